// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/render/each"
)

// Groups of Flux and of flux-operator.
const (
	SourceGroup        = "source.toolkit.fluxcd.io"
	KustomizationGroup = "kustomize.toolkit.fluxcd.io"
	OperatorGroup      = "fluxcd.controlplane.io"
	ReleaseGroup       = "helm.toolkit.fluxcd.io"
)

// An ArtifactGenerator of source-watcher makes ExternalArtifacts of the files of sources.
const (
	GeneratorGroup = "source.extensions.fluxcd.io"
	GeneratorKind  = "ArtifactGenerator"
)

// Object is an object that a commit applies to a cluster.
type Object struct {
	*unstructured.Unstructured
	documents.Origin
}

// Group returns the API group.
func (o Object) Group() string { return o.GroupVersionKind().Group }

// Is reports whether the object has the kind and the name of a reference, in any cluster. An object without a namespace matches
// every namespace.
func (o Object) Is(m Ref) bool {
	return o.Group() == m.Group && o.GetKind() == m.Kind && o.GetName() == m.Name.Name &&
		(o.GetNamespace() == "" || m.Name.Namespace == "" || o.GetNamespace() == m.Name.Namespace)
}

// Ref returns the reference to the object.
func (o Object) Ref() Ref {
	return Ref{o.Cluster, o.Group(), o.GetKind(), types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}}
}

// IsEncrypted reports whether SOPS encrypted the object, or values of it.
func (o Object) IsEncrypted() bool {
	_, found := o.Object["sops"]
	return found
}

// Digest returns a digest of the content.
func (o Object) Digest() string {
	return inputs.Digest(documents.JSONOf(o.Object))
}

// NameOf returns <namespace>/<name>, without the slash if there is no namespace.
func NameOf(name types.NamespacedName) string {
	return strings.TrimPrefix(name.String(), "/")
}

// IsRelevant reports whether the comparison needs an object: an object of Flux or Winnow, one with variables, or one whose
// deletion deletes others.
func IsRelevant(o *unstructured.Unstructured) bool {
	gvk := o.GroupVersionKind()
	groups := []string{
		SourceGroup, GeneratorGroup, KustomizationGroup, OperatorGroup, ReleaseGroup, v1alpha1.GroupVersion.Group, "apiextensions.k8s.io",
	}
	return slices.Contains(groups, gvk.Group) || gvk.Group == "" && slices.Contains([]string{"ConfigMap", "Secret", "Namespace"}, gvk.Kind)
}

// StringsAt returns a list of an object, with its items as strings.
func StringsAt(o *unstructured.Unstructured, fields ...string) []string {
	all, _, _ := unstructured.NestedSlice(o.Object, fields...)
	return each.Map(all, func(one any) string { return fmt.Sprint(one) })
}

// StringAt returns a string field of an object.
func StringAt(o *unstructured.Unstructured, fields ...string) string {
	value, _, _ := unstructured.NestedString(o.Object, fields...)
	return value
}

// MapsAt returns the items of a list that are objects.
func MapsAt(o *unstructured.Unstructured, fields ...string) []map[string]any {
	all, _, _ := unstructured.NestedSlice(o.Object, fields...)
	var found []map[string]any
	for _, one := range all {
		if fields, ok := one.(map[string]any); ok {
			found = append(found, fields)
		}
	}
	return found
}

// IsSuspended reports whether Flux does not pull a source; false for nil.
func (o *Object) IsSuspended() bool {
	if o == nil {
		return false
	}
	suspended, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend")
	return suspended
}
