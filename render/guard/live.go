// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/reserved"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Live is the metadata of a definition that lives in a cluster.
type Live = metav1.PartialObjectMetadata

// Marks of live definitions.
const (
	// ReconcileAnnotation with the value Disabled, on a live object, keeps Flux from updating and
	// deleting it.
	ReconcileAnnotation = "kustomize.toolkit.fluxcd.io/reconcile"
	// PruneAnnotation with the value Disabled, on a live object, keeps Flux from deleting it.
	PruneAnnotation = "kustomize.toolkit.fluxcd.io/prune"
	Disabled        = "disabled"
	// MarksOwner is the field manager of Winnow's marks, and of nothing else.
	MarksOwner = "winnow-marks"

	// The owner labels, which kustomize-controller sets on the objects that it applies.
	ownerNameLabel      = "kustomize.toolkit.fluxcd.io/name"
	ownerNamespaceLabel = "kustomize.toolkit.fluxcd.io/namespace"
)

// LiveKey returns the identity of a live definition.
func LiveKey(object *Live) safeguard.Key {
	gvk := object.GroupVersionKind()
	return safeguard.KeyOf(gvk.Group, gvk.Kind, object.GetNamespace(), object.GetName())
}

// AppliedBy reports whether a live definition carries the labels of the selection.
func AppliedBy(cs *v1alpha1.CatalogSelection, object metav1.Object) bool {
	labels := object.GetLabels()
	return labels[v1alpha1.NameLabel] == cs.Name && labels[v1alpha1.NamespaceLabel] == cs.Namespace
}

// Bypassed reports whether a live definition has the bypass label.
func Bypassed(object metav1.Object) bool {
	_, labelled := object.GetLabels()[v1alpha1.BypassLabel]
	return labelled
}

// Honored reports whether a live definition has the bypass label, and the selection honors it.
func Honored(cs *v1alpha1.CatalogSelection, object *Live) bool {
	return LiveKey(object).IsDefinition() && Bypassed(object) && cs.Spec.Cluster.Bypass != v1alpha1.BypassIgnore
}

// Untouched reports whether Flux neither updates nor deletes the object. Flux ignores the case.
func Untouched(object metav1.Object) bool {
	return strings.EqualFold(object.GetAnnotations()[ReconcileAnnotation], Disabled)
}

// Kept reports whether Flux does not delete the object. Flux ignores the case.
func Kept(object metav1.Object) bool {
	return strings.EqualFold(object.GetAnnotations()[PruneAnnotation], Disabled)
}

// OwnerOf returns the Kustomization that has applied an object last, as its owner labels name it; empty without them.
func OwnerOf(object metav1.Object) types.NamespacedName {
	labels := object.GetLabels()
	owner := types.NamespacedName{Namespace: labels[ownerNamespaceLabel], Name: labels[ownerNameLabel]}
	if owner.Namespace == "" || owner.Name == "" {
		return types.NamespacedName{}
	}
	return owner
}

// Owns reports whether the marks' field manager has set the label or annotation.
func Owns(object metav1.Object, key string) bool {
	return slices.ContainsFunc(object.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool {
		return f.Manager == MarksOwner && sets(f, key)
	})
}

// sets reports whether the fields of a manager have a label or annotation.
func sets(f metav1.ManagedFieldsEntry, key string) bool {
	return f.FieldsV1 != nil && strings.Contains(f.FieldsV1.GetRawString(), `"f:`+key+`"`)
}

// OfPlatform reports whether KKP's operator reconciles an object, or KKP's application-catalog-manager,
// which restores the versions of the object.
func OfPlatform(object metav1.Object) bool {
	labels := object.GetLabels()
	return labels[reserved.PlatformLabel] != "" || reserved.ManagerMark(labels, object.GetAnnotations()) != ""
}

// StaysUntouched reports whether Flux leaves the object alone, and will still do so. Without the bypass
// label, Winnow's mark has just been removed, even though a cache may still show it.
func StaysUntouched(cs *v1alpha1.CatalogSelection, object *Live) bool {
	ours := Owns(object, ReconcileAnnotation) || object.Annotations[v1alpha1.BypassMarkAnnotation] != ""
	return Untouched(object) && (Honored(cs, object) || !ours)
}

// keys returns the set of the keys of definitions.
func keys(definitions []safeguard.Definition) map[safeguard.Key]bool {
	all := make(map[safeguard.Key]bool, len(definitions))
	for _, d := range definitions {
		all[d.Key()] = true
	}
	return all
}

// Kinds returns the kinds of definitions that are objects, sorted and each once.
func Kinds(definitions ...[]safeguard.Definition) []schema.GroupVersionKind {
	kinds := map[string]schema.GroupVersionKind{}
	for _, some := range definitions {
		for i := range some { // a copy is large
			if d := &some[i]; d.IsObject() {
				kinds[d.APIVersion+" "+d.Kind] = schema.FromAPIVersionAndKind(d.APIVersion, d.Kind)
			}
		}
	}
	return each.Map(slices.Sorted(maps.Keys(kinds)), func(name string) schema.GroupVersionKind { return kinds[name] })
}
