// SPDX-License-Identifier: Apache-2.0

package upgrades

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/value"
)

// field is one that the API server does not let change.
type field struct {
	path string
	// initial is its value where it is not set.
	initial any
	// may reports whether the value at a path below the field may change nevertheless; nil for none.
	may func(path string) bool
}

// selector and roleRef are the fixed fields of several kinds.
var (
	selector = []field{{path: ".spec.selector"}}
	roleRef  = []field{{path: ".roleRef.apiGroup", initial: "rbac.authorization.k8s.io"}, {path: ".roleRef.kind"}, {path: ".roleRef.name"}}
)

// fixed has the fields of kinds of Kubernetes that never change, as the validation of updates in k8s.io/kubernetes has them.
var fixed = map[schema.GroupKind][]field{
	{Group: "apps", Kind: "DaemonSet"}:   selector,
	{Group: "apps", Kind: "Deployment"}:  selector,
	{Group: "apps", Kind: "ReplicaSet"}:  selector,
	{Group: "apps", Kind: "StatefulSet"}: {{path: ".spec.selector"}, {path: ".spec.serviceName"}, {path: ".spec.podManagementPolicy", initial: "OrderedReady"}},
	{Group: "batch", Kind: "Job"}: {
		{path: ".spec.template"}, {path: ".spec.selector"}, {path: ".spec.completionMode", initial: "NonIndexed"}, {path: ".spec.podFailurePolicy"},
		{path: ".spec.successPolicy"}, {path: ".spec.backoffLimitPerIndex"}, {path: ".spec.managedBy"},
	},
	{Kind: "PersistentVolume"}: {{path: ".spec.volumeMode", initial: "Filesystem"}},
	{Kind: "Secret"}:           {{path: ".type", initial: "Opaque"}},
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:        roleRef,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: roleRef,
	{Group: "storage.k8s.io", Kind: "StorageClass"}: {
		{path: ".provisioner"}, {path: ".parameters"}, {path: ".reclaimPolicy", initial: "Delete"}, {path: ".volumeBindingMode", initial: "Immediate"},
	},
	{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}:  {{path: ".driverName"}, {path: ".parameters"}},
	{Group: "storage.k8s.io", Kind: "CSIDriver"}:              {{path: ".spec.attachRequired", initial: true}, {path: ".spec.volumeLifecycleModes", initial: []any{"Persistent"}}},
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:       {{path: ".value"}, {path: ".preemptionPolicy", initial: "PreemptLowerPriority"}},
	{Group: "node.k8s.io", Kind: "RuntimeClass"}:              {{path: ".handler"}},
	{Group: "networking.k8s.io", Kind: "IngressClass"}:        {{path: ".spec.controller"}},
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}:        {{path: ".addressType"}},
	{Group: "apps", Kind: "ControllerRevision"}:               {{path: ".data"}},
	{Group: "resource.k8s.io", Kind: "ResourceClaim"}:         {{path: ".spec"}},
	{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"}: {{path: ".spec"}},
	definitionKind: {{path: ".spec.scope"}, {path: ".spec.names.kind"}},
}

// immutable returns the risks of fixed fields that change.
func immutable(o, newer object) (risks []diff.Risk) {
	if o.inCRDs() || newer.inCRDs() {
		return nil // which Helm does not upgrade
	}
	from, to := normalized(o), normalized(newer)
	for _, f := range fixedFields(o, from, to) {
		if d, changed := change(o, newer, f, from, to); changed {
			risks = append(risks, changedRisk(Immutable, o, d, refused(o)+recreate(o, f)))
		}
	}
	return risks
}

// refused states what happens to a change of an object.
func refused(o object) string {
	if isKind(o, "batch", "Job") && o.at("spec", "ttlSecondsAfterFinished").IsSet() {
		return "The API server refuses the change while the Job is there, and the upgrade fails. "
	}
	return "The API server refuses the change, and the upgrade fails. "
}

// recreate states what lets an upgrade pass.
func recreate(o object, f field) string {
	switch o.kind {
	case "StatefulSet":
		if f.path == ".spec.selector" {
			return "Keep the field: a new StatefulSet does not adopt the pods, and makes none of their names. Otherwise retain its claims, and delete it with its pods before the upgrade."
		}
		return "Keep the field, or delete the StatefulSet with --cascade=orphan before the upgrade: pods and volumes stay."
	case "Deployment", "DaemonSet", "ReplicaSet":
		return "Keep the field, or delete the object before the upgrade: its pods are gone until it is there again."
	case definitionKind.Kind:
		return "Keep the field. If the definition gets another name, Helm deletes this one with all its objects: back them up first."
	case "PersistentVolume":
		return "Keep the field, or give the object another name, and copy its data first."
	case "Secret", "ConfigMap":
		return "Keep the field, or give the object another name."
	}
	return "Keep the field, or delete the object before the upgrade."
}

// change returns how a field differs: at the one value below it that does, or else as a whole.
func change(o, newer object, f field, from, to map[string]any) (d difference, changed bool) {
	whole := difference{f.path, initially(value.Of(from).Get(splitPath(f.path)...).Content, f.initial), initially(value.Of(to).Get(splitPath(f.path)...).Content, f.initial)}
	if o.isBelowGenerated(f.path) || newer.isBelowGenerated(f.path) {
		return whole, false
	}
	all := differences(whole.path, whole.from, whole.to, func(path string) bool {
		return o.isGenerated(path) || newer.isGenerated(path) || f.may != nil && f.may(path)
	})
	if len(all) == 1 {
		return all[0], true
	}
	return whole, len(all) > 0
}

func initially(v, initial any) any {
	if initial != nil && (isEmpty(v) || v == "") {
		return initial
	}
	return v
}

// fixedFields returns the fields of an object that must not change, by its content before and after.
func fixedFields(o object, from, to map[string]any) []field {
	all := slices.Clone(fixed[schema.GroupKind{Group: o.group, Kind: o.kind}])
	if o.group == "" {
		return append(all, fixedCoreFields(o.kind, from, to)...)
	}
	if isKind(o, "batch", "Job") && value.Of(to).Get("spec", "completionMode").Text() != "Indexed" {
		all = append(all, completions(from, to)...)
	}
	return all
}

// completions returns the field of a Job that is one by default, unless its parallelism is set.
func completions(from, to map[string]any) []field {
	for _, content := range []map[string]any{from, to} {
		if !value.Of(content).Get("spec", "completions").IsSet() && value.Of(content).Get("spec", "parallelism").IsSet() {
			return []field{{path: ".spec.completions"}}
		}
	}
	return []field{{path: ".spec.completions", initial: int64(1)}}
}

func fixedCoreFields(kind string, from, to map[string]any) []field {
	switch kind {
	case "Secret", "ConfigMap":
		if value.Of(from).Get("immutable").IsTrue() {
			return []field{{path: ".immutable"}, {path: ".data"}, {path: ".binaryData"}}
		}
	case "PersistentVolume":
		return volumeFields(from, to)
	case "Pod":
		return []field{{path: ".spec", may: podMay}}
	case "Service":
		return serviceFields(from, to)
	}
	return nil
}

// volumeFields returns the source of a PersistentVolume: all of the spec but what may change. Its affinity may be set once.
func volumeFields(from, to map[string]any) []field {
	may := []string{
		"accessModes", "capacity", "claimRef", "mountOptions", "persistentVolumeReclaimPolicy", "storageClassName",
		"volumeAttributesClassName", "volumeMode",
	}
	before, after := value.Of(from).Get("spec").Mapping(), value.Of(to).Get("spec").Mapping()
	if before["nodeAffinity"] == nil {
		may = append(may, "nodeAffinity")
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(may, name) })
	slices.Sort(names)
	return each.Map(slices.Compact(names), func(name string) field { return field{path: ".spec." + name} })
}

// podMay reports whether a field of a Pod may change.
func podMay(path string) bool {
	return strings.HasSuffix(path, "].image") || strings.HasPrefix(path, ".spec.tolerations") ||
		slices.Contains([]string{".spec.activeDeadlineSeconds", ".spec.terminationGracePeriodSeconds"}, path)
}

// serviceFields returns the addresses of a Service, which the API server sets where the manifest does not, and the class of its
// load balancer. One of the type ExternalName has none.
func serviceFields(from, to map[string]any) (all []field) {
	before, after := value.Of(from).Get("spec", "type").Text(), value.Of(to).Get("spec", "type").Text()
	if before == "ExternalName" || after == "ExternalName" {
		return nil
	}
	if value.Of(to).Get("spec", "clusterIP").Text() != "" {
		all = append(all, field{path: ".spec.clusterIP"})
	}
	families, old := value.Of(to).Get("spec", "ipFamilies").Items(), value.Of(from).Get("spec", "ipFamilies").Items()
	if len(families) > 0 && len(old) > 0 && old[0].Text() != families[0].Text() {
		all = append(all, field{path: ".spec.ipFamilies"})
	}
	if before != "LoadBalancer" || after != before {
		return all
	}
	all = append(all, field{path: ".spec.loadBalancerClass"})
	local := func(content map[string]any) bool {
		return value.Of(content).Get("spec", "externalTrafficPolicy").Text() == "Local"
	}
	if local(from) && local(to) && value.Of(to).Get("spec", "healthCheckNodePort").IsSet() {
		all = append(all, field{path: ".spec.healthCheckNodePort"})
	}
	return all
}
