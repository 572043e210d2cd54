package backend

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

var helmReleaseKind = schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"}

// atomicRetries is how often KKP tries an atomic release before it gives up.
const atomicRetries = 5

// release is a HelmRelease.
type release struct {
	name, namespace string
	labels          map[string]string
	// timeout of all actions, and of the installation where it has another.
	timeout, installTimeout time.Duration
	// remediate rolls a failed upgrade back and uninstalls a failed installation; otherwise both are tried
	// again as they are, as KKP and Cozystack do.
	remediate bool
	// disableWait does not wait for what is installed, clientSide applies it without server-side apply.
	disableWait, clientSide bool
	valuesFrom              []any
	// extra members of the spec.
	extra map[string]any
}

// addRelease adds a HelmRelease. What decides about the release is always written: where another default would
// apply later, helm-controller would uninstall it.
func (d *draft) addRelease(r release) {
	name := cmp.Or(d.ReleaseName, r.name)
	if len(name) > maxReleaseName {
		d.refuse("releaseName", "the release would be called %s, and Helm allows %d characters: set a shorter one", quote(name), maxReleaseName)
	}
	spec := r.extra
	spec["interval"] = d.interval().String()
	spec["releaseName"] = name
	spec["targetNamespace"] = r.namespace
	spec["storageNamespace"] = cmp.Or(d.StorageNamespace, d.Namespace)
	spec["install"], spec["upgrade"] = r.install(), r.upgrade()
	setDuration(spec, "timeout", r.timeout)
	setText(spec, "serviceAccountName", d.ServiceAccountName)
	setTrue(spec, "suspend", d.Suspend)
	d.setDependencies(spec, r.name)
	if len(r.valuesFrom) > 0 {
		spec["valuesFrom"] = r.valuesFrom
	}
	if len(d.Values) > 0 {
		spec["values"] = MergeValues(d.Values, nil)
	}
	object := d.add(Main, helmReleaseKind, d.Namespace, r.name, map[string]any{"spec": spec})
	if len(r.labels) > 0 {
		object.SetLabels(r.labels)
	}
}

func (r release) install() map[string]any {
	install := r.action()
	setDuration(install, "timeout", r.installTimeout)
	if r.clientSide {
		install["serverSideApply"] = false
	}
	return install
}

// upgrade never installs a release anew because the name of the chart has changed: the selection holds that.
func (r release) upgrade() map[string]any {
	upgrade := r.action()
	upgrade["chartNameChangeStrategy"] = "InPlaceUpdate"
	if r.clientSide {
		upgrade["serverSideApply"] = "disabled"
	}
	return upgrade
}

// action returns what installation and upgrade have in common.
func (r release) action() map[string]any {
	action := map[string]any{"strategy": map[string]any{"name": "RetryOnFailure"}}
	if r.remediate {
		action["strategy"] = map[string]any{"name": "RemediateOnFailure"}
		action["remediation"] = map[string]any{"retries": int64(atomicRetries), "remediateLastFailure": true}
	}
	setTrue(action, "disableWait", r.disableWait)
	return action
}

// helmReferences returns valuesFrom of a HelmRelease.
func helmReferences(all []ValuesReference) []any {
	list := make([]any, 0, len(all))
	for _, from := range all {
		reference := map[string]any{"kind": from.Kind, "name": from.Name}
		setText(reference, "valuesKey", from.ValuesKey)
		setText(reference, "targetPath", from.TargetPath)
		setTrue(reference, "literal", from.Literal)
		setTrue(reference, "optional", from.Optional)
		list = append(list, reference)
	}
	return list
}

// addNamespace adds the namespace that an application runs in. That of the selection exists.
func (d *draft) addNamespace(namespace kkpNamespace) {
	if !namespace.create || namespace.name == d.Namespace {
		return
	}
	object := d.add(Namespace, namespaceKind, "", namespace.name, map[string]any{})
	if len(namespace.labels) > 0 {
		object.SetLabels(namespace.labels)
	}
	if len(namespace.annotations) > 0 {
		object.SetAnnotations(namespace.annotations)
	}
}
