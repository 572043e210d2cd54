// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"path"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/render/each"
)

// Kustomization is a Kustomization of Flux. Spec is decoded from Object.
type Kustomization struct {
	Object *unstructured.Unstructured
	Spec   kustomizev1.KustomizationSpec

	content string
}

// IsKustomization reports whether an object is a Kustomization of Flux.
func IsKustomization(o *unstructured.Unstructured) bool {
	return o.GroupVersionKind().Group == KustomizationGroup && o.GetKind() == kustomizev1.KustomizationKind
}

// Follows reports whether an object is a Kustomization with a source that is pulled, as opposed to an
// ExternalArtifact, which a controller creates in the cluster.
func Follows(o *unstructured.Unstructured) bool {
	kind, _, _ := unstructured.NestedString(o.Object, "spec", "sourceRef", "kind")
	return IsKustomization(o) && kind != "" && kind != sourcev1.ExternalArtifactKind
}

// NewKustomization decodes a Kustomization. The error names a field with another type.
func NewKustomization(object *unstructured.Unstructured) (*Kustomization, error) {
	var typed kustomizev1.Kustomization
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &typed); err != nil {
		return nil, fmt.Errorf("reading its spec: %w", err)
	}
	return &Kustomization{Object: object, Spec: typed.Spec}, nil
}

// DirectoryKustomization returns a Kustomization that applies a directory with defaults.
func DirectoryKustomization(dir string) *Kustomization {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"path": "./" + dir}}}
	object.SetAPIVersion(kustomizev1.GroupVersion.String())
	object.SetKind(kustomizev1.KustomizationKind)
	return &Kustomization{Object: object, Spec: kustomizev1.KustomizationSpec{Path: "./" + dir}}
}

// Path returns the path of the Kustomization in its repository.
func (k *Kustomization) Path() string {
	return repository.CleanPath(k.Spec.Path)
}

// Source returns the name of the source, in the namespace of the Kustomization if the reference has none.
func (k *Kustomization) Source() types.NamespacedName {
	ref := k.Spec.SourceRef
	return types.NamespacedName{Namespace: cmp.Or(ref.Namespace, k.Object.GetNamespace()), Name: ref.Name}
}

// Content returns as JSON the fields that determine the objects that the Kustomization applies.
func (k *Kustomization) Content() string {
	if k.content == "" {
		k.content = documents.JSONOf(k.specWithout())
	}
	return k.content
}

// Text returns what Content returns as YAML, for a search of words.
func (k *Kustomization) Text() []byte {
	return []byte(documents.YAMLOf(k.specWithout()))
}

// Transforms returns as JSON the fields that change the objects in the directory of the Kustomization.
func (k *Kustomization) Transforms() string {
	return documents.JSONOf(k.specWithout("path", "sourceRef"))
}

// Built returns as JSON the fields that change what kustomize builds, before variables are replaced.
func (k *Kustomization) Built() string {
	return documents.JSONOf([]any{k.specWithout("postBuild"), k.Spec.Patches})
}

// specWithout returns the fields of the spec that change the objects which the Kustomization applies, without some of them.
func (k *Kustomization) specWithout(fields ...string) map[string]any {
	spec, _ := k.Object.Object["spec"].(map[string]any)
	spec = maps.Clone(spec)
	for _, field := range append(fields, "interval", "retryInterval", "timeout", "wait", "dependsOn", "healthChecks", "healthCheckExprs",
		"force", "serviceAccountName", "prune", "deletionPolicy", "suspend") {
		delete(spec, field)
	}
	return spec
}

// References returns the ConfigMaps and Secrets with variables of postBuild.
func (k *Kustomization) References() []kustomizev1.SubstituteReference {
	if k.Spec.PostBuild == nil {
		return nil
	}
	return k.Spec.PostBuild.SubstituteFrom
}

// Variables returns references to them in a cluster.
func (k *Kustomization) Variables(cluster string) []Ref {
	return each.Map(k.References(), func(ref kustomizev1.SubstituteReference) Ref {
		return Ref{Cluster: cluster, Kind: ref.Kind, Name: types.NamespacedName{Namespace: k.Object.GetNamespace(), Name: ref.Name}}
	})
}

// Components returns the components of the spec without missing ones that Flux ignores.
func (k *Kustomization) Components(t *repository.Tree, dir string) []string {
	return each.Where(k.Spec.Components, func(component string) bool {
		return !k.Spec.IgnoreMissingComponents || t.Exists(path.Join(dir, component))
	})
}
