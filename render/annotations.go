// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/options"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/tree"
)

// Annotations of every object that kustomize-controller reads.
const (
	// ssaAnnotation with the value Merge keeps fields and labels of the live object that other field
	// managers set. With IfNotPresent, Flux leaves a live object as it is.
	ssaAnnotation = "kustomize.toolkit.fluxcd.io/ssa"
	// substituteAnnotation with the value disabled keeps Flux from replacing ${...} in values.
	substituteAnnotation = "kustomize.toolkit.fluxcd.io/substitute"
	// pruneAnnotation with the value disabled keeps Flux from deleting the object.
	pruneAnnotation = "kustomize.toolkit.fluxcd.io/prune"
	// reconcileAnnotation with the value disabled keeps Flux from applying the object. Only placeholders of an earlier release have it.
	reconcileAnnotation = "kustomize.toolkit.fluxcd.io/reconcile"
)

// kustomization returns the labels, annotations and patches of the options, without resources.
func kustomization(opts options.Options, defined []safeguard.Definition, objects []backend.Object) tree.Kustomization {
	k := tree.Kustomization{Labels: objectLabels(opts), Patches: opts.Patches, AllowEmpty: opts.AllowEmpty}
	if len(objects) == 0 {
		k.Annotations = roleAnnotations(backend.Definition, opts)
		maps.Copy(k.Annotations, opts.Annotations) // none of them has a reserved key
		return k
	}
	k.Annotations = opts.Annotations
	k.KindAnnotations = kindAnnotations(defined, objects, opts)
	return k
}

func objectLabels(opts options.Options) map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, opts.Labels)
	labels[v1alpha1.ManagedByLabel] = v1alpha1.ManagedByValue
	labels[v1alpha1.NameLabel] = opts.Name
	labels[v1alpha1.NamespaceLabel] = opts.Namespace
	return labels
}

// kindAnnotations returns the annotations of an artifact with instances, by what the kinds of objects are for.
func kindAnnotations(defined []safeguard.Definition, objects []backend.Object, opts options.Options) []tree.KindAnnotations {
	kinds := map[backend.Role][]schema.GroupKind{}
	add := func(role backend.Role, kind schema.GroupKind) {
		if role == backend.OperatorGroup && !opts.Prune {
			role = backend.Shared // Flux deletes no shared objects either
		}
		kinds[role] = each.Union(kinds[role], kind)
	}
	for _, d := range defined {
		add(backend.Definition, schema.GroupKind{Group: d.Key().Group, Kind: d.Kind})
	}
	for _, object := range objects {
		add(object.Role, object.GroupVersionKind().GroupKind())
	}
	var all []tree.KindAnnotations
	for _, role := range []backend.Role{backend.Definition, backend.Main, backend.Values, backend.Shared, backend.OperatorGroup, backend.Namespace} {
		slices.SortFunc(kinds[role], func(a, b schema.GroupKind) int {
			return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
		})
		all = append(all, tree.KindAnnotations{Name: "annotations-" + string(role), Kinds: kinds[role], Annotations: roleAnnotations(role, opts)})
	}
	return all
}

// roleAnnotations returns what Flux has to know of the objects with a role. Sources and values are pruned freely: a new one has a new
// name, and FilesOf keeps what a moving instance needs. A namespace is only created: where another Kustomization has it too, each would
// take away the labels of the other one, because Flux has one field manager for all.
func roleAnnotations(role backend.Role, opts options.Options) map[string]string {
	annotations := map[string]string{}
	switch role {
	case backend.Definition:
		annotations[ssaAnnotation] = "Merge"
	case backend.Namespace:
		annotations[ssaAnnotation] = "IfNotPresent"
	}
	if role != backend.Namespace {
		annotations[substituteAnnotation] = "disabled"
	}
	if role == backend.Namespace || role == backend.OperatorGroup || !opts.Prune && role != backend.Values {
		annotations[pruneAnnotation] = "disabled"
	}
	return annotations
}
