// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"cmp"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// release is a HelmRelease.
type release struct {
	name, namespace string
	labels          map[string]string
	// interval unless the instance has one; zero is the interval of all backends.
	interval time.Duration
	// timeout of all actions, and of the installation and of upgrades where they have others.
	timeout, installTimeout, upgradeTimeout time.Duration
	// retryInterval after a failure; zero is the interval.
	retryInterval time.Duration
	// remediate rolls a failed upgrade back and uninstalls a failed installation; otherwise both are tried
	// again as they are, as KKP and Cozystack do.
	remediate bool
	// retries of an atomic release.
	retries int32
	// disableWait does not wait for what is installed.
	disableWait bool
	// serverSide reports whether server-side apply is used; nil is the default of helm-controller.
	serverSide *bool
	valuesFrom []any
	// extra members of the spec.
	extra map[string]any
}

// atomicRetries is how often KKP tries an atomic release before it gives up.
const atomicRetries = 5

// addRelease adds a HelmRelease. What decides about the release is always written: where another default would
// apply later, helm-controller would uninstall it.
func addRelease(d *draft.Draft, r release) {
	name := cmp.Or(d.ReleaseName, r.name)
	if len(name) > backend.MaxReleaseName {
		d.Refuse("releaseName", "the release would be called %s, and Helm allows %d characters: set a shorter one", excerpt.Quoted(name), backend.MaxReleaseName)
	}
	r.deploy(d)
	spec := r.extra
	spec["interval"] = cmp.Or(d.Interval, r.interval, draft.DefaultInterval).String()
	spec["releaseName"] = name
	spec["targetNamespace"] = r.namespace
	spec["storageNamespace"] = cmp.Or(d.StorageNamespace, d.Namespace)
	spec["install"], spec["upgrade"] = r.install(), r.upgrade()
	draft.SetDuration(spec, "timeout", r.timeout)
	draft.Set(spec, "serviceAccountName", d.ServiceAccountName)
	draft.Set(spec, "suspend", d.Suspend)
	d.SetDependencies(spec, r.name)
	if len(r.valuesFrom) > 0 {
		spec["valuesFrom"] = r.valuesFrom
	}
	if len(d.Values) > 0 {
		spec["values"] = backend.MergeValues(d.Values, nil)
	}
	object := d.Add(backend.Main, kinds.HelmRelease, d.Namespace, r.name, map[string]any{"spec": spec})
	if len(r.labels) > 0 {
		object.SetLabels(r.labels)
	}
}

// deploy sets how the release is deployed, which the definition has set, to what the instance says.
func (r *release) deploy(d *draft.Draft) {
	waits, atomic := d.Deployed(!r.disableWait, r.remediate)
	r.disableWait, r.remediate, r.retries = !waits, atomic, atomicRetries
	switch retries := d.Deploy.Retries; {
	case retries == nil:
	case !atomic:
		d.Refuse("deploy.retries", "is for atomic releases, and this one is tried again until it succeeds: set deploy.atomic to true, or leave it out")
	default:
		r.retries = *retries
	}
}

func (r release) install() map[string]any {
	install := r.action()
	draft.SetDuration(install, "timeout", r.installTimeout)
	if r.serverSide != nil {
		install["serverSideApply"] = *r.serverSide
	}
	return install
}

// upgrade never installs a release anew because the name of the chart has changed: the selection holds that.
func (r release) upgrade() map[string]any {
	upgrade := r.action()
	draft.SetDuration(upgrade, "timeout", r.upgradeTimeout)
	upgrade[kinds.ChartNameChangeStrategy] = "InPlaceUpdate"
	if r.serverSide != nil {
		upgrade["serverSideApply"] = map[bool]string{true: "enabled", false: "disabled"}[*r.serverSide]
	}
	return upgrade
}

// action returns what installation and upgrade have in common.
func (r release) action() map[string]any {
	strategy := map[string]any{"name": "RetryOnFailure"}
	draft.SetDuration(strategy, "retryInterval", r.retryInterval)
	action := map[string]any{"strategy": strategy}
	if r.remediate {
		action["strategy"] = map[string]any{"name": "RemediateOnFailure"}
		action["remediation"] = map[string]any{"retries": int64(r.retries), "remediateLastFailure": true}
	}
	draft.Set(action, "disableWait", r.disableWait)
	return action
}

// helmReferences returns valuesFrom of a HelmRelease.
func helmReferences(all []v1alpha1.ValuesReference) []any {
	list := make([]any, 0, len(all))
	for _, from := range all {
		reference := map[string]any{"kind": from.Kind, "name": from.Name}
		draft.Set(reference, "valuesKey", from.ValuesKey)
		draft.Set(reference, "targetPath", from.TargetPath)
		draft.Set(reference, "literal", from.Literal)
		draft.Set(reference, "optional", from.Optional)
		list = append(list, reference)
	}
	return list
}
