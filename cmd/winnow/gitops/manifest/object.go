package gitops

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Groups of Flux and of flux-operator.
const (
	sourceGroup        = "source.toolkit.fluxcd.io"
	kustomizationGroup = "kustomize.toolkit.fluxcd.io"
	operatorGroup      = "fluxcd.controlplane.io"
)

// Object is an object that a commit applies to a cluster.
type Object struct {
	*unstructured.Unstructured
	// Cluster is the directory of the cluster, and Kustomization the name of the one that applies the
	// object, empty for the directory itself.
	Cluster, Kustomization string
	// Appliers are the names of the Kustomizations that lead to the object, from the directory on.
	Appliers []string
	// Alone reports that no Kustomization of the repository applies the directory Cluster, so that the cluster is unknown.
	Alone bool
	// File that contains the object, before patches.
	File string
	// Unknown are sentences on parts of the object that are unknown, and Hidden is a digest of these parts.
	Unknown []string
	Hidden  string
}

func (o Object) group() string { return o.GroupVersionKind().Group }

// is reports whether the object has the kind and the name. An object without a namespace matches every
// namespace.
func (o Object) is(group, kind string, name types.NamespacedName) bool {
	return o.group() == group && o.GetKind() == kind && o.GetName() == name.Name &&
		(o.GetNamespace() == "" || name.Namespace == "" || o.GetNamespace() == name.Namespace)
}

// isEncrypted reports whether SOPS encrypted the object, or values of it.
func (o Object) isEncrypted() bool {
	_, found := o.Object["sops"]
	return found
}

func (o Object) digest() string {
	return digest(yamlOf(o.Object))
}

func isKustomization(o *unstructured.Unstructured) bool {
	return o.GroupVersionKind().Group == kustomizationGroup && o.GetKind() == kustomizev1.KustomizationKind
}

// follows reports whether an object is a Kustomization with a source that is pulled, as opposed to an
// ExternalArtifact, which a controller creates in the cluster.
func follows(o *unstructured.Unstructured) bool {
	kind, _, _ := unstructured.NestedString(o.Object, "spec", "sourceRef", "kind")
	return isKustomization(o) && kind != "" && kind != sourcev1.ExternalArtifactKind
}

// kustomization is a Kustomization of Flux.
type kustomization struct {
	object *unstructured.Unstructured
	spec   kustomizev1.KustomizationSpec
}

func newKustomization(object *unstructured.Unstructured) (*kustomization, error) {
	var typed kustomizev1.Kustomization
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &typed); err != nil {
		return nil, fmt.Errorf("reading its spec: %w", err)
	}
	return &kustomization{object, typed.Spec}, nil
}

// directoryKustomization returns a Kustomization that applies a directory with defaults.
func directoryKustomization(dir string) *kustomization {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"path": "./" + dir}}}
	object.SetAPIVersion(kustomizev1.GroupVersion.String())
	object.SetKind(kustomizev1.KustomizationKind)
	return &kustomization{object, kustomizev1.KustomizationSpec{Path: "./" + dir}}
}

// path returns the path of the Kustomization in its repository.
func (k *kustomization) path() string {
	return pathOf(k.spec.Path)
}

func (k *kustomization) source() types.NamespacedName {
	ref := k.spec.SourceRef
	if ref.Namespace == "" {
		ref.Namespace = k.object.GetNamespace()
	}
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

func nameOf(name types.NamespacedName) string {
	return strings.TrimPrefix(name.String(), "/")
}

// takesArtifact reports whether an object is a Kustomization of an ExternalArtifact that no CatalogSelection of its cluster
// publishes in either commit.
func (w *walk) takesArtifact(o Object) bool {
	if !isKustomization(o.Unstructured) || follows(o.Unstructured) {
		return false
	}
	k, err := newKustomization(o.Unstructured)
	if err != nil {
		return true
	}
	objects := w.objects()
	if w.older != nil {
		objects = append(objects, w.older.objects()...)
	}
	return k.spec.SourceRef.Kind != "" && !slices.ContainsFunc(objects, func(s Object) bool {
		return s.Cluster == o.Cluster && s.is(v1alpha1.GroupVersion.Group, v1alpha1.CatalogSelectionKind, k.source())
	})
}

// timingFields are fields of a Kustomization that do not change the objects that it applies.
func timingFields() []string {
	return []string{
		"interval", "retryInterval", "timeout", "wait", "dependsOn", "healthChecks", "healthCheckExprs", "force",
		"serviceAccountName", "prune", "deletionPolicy", "suspend",
	}
}

// content returns the fields that determine the objects that the Kustomization applies.
func (k *kustomization) content() string {
	spec, _, _ := unstructured.NestedMap(k.object.Object, "spec")
	for _, field := range timingFields() {
		delete(spec, field)
	}
	return yamlOf(spec)
}

// transforms returns the fields that change the objects in the directory of the Kustomization.
func (k *kustomization) transforms() string {
	spec, _, _ := unstructured.NestedMap(k.object.Object, "spec")
	for _, field := range append(timingFields(), "path", "sourceRef") {
		delete(spec, field)
	}
	return yamlOf(spec)
}

// yamlOf encodes a value that was decoded from YAML.
func yamlOf(value any) string {
	encoded, err := yaml.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(encoded)
}

// references returns the ConfigMaps and Secrets with variables of postBuild.
func (k *kustomization) references() []kustomizev1.SubstituteReference {
	if k.spec.PostBuild == nil {
		return nil
	}
	return k.spec.PostBuild.SubstituteFrom
}

// syncOf returns the source that flux-operator creates for a FluxInstance. It returns nil for other objects
// and without spec.sync.
func syncOf(o *unstructured.Unstructured) *unstructured.Unstructured {
	if o.GroupVersionKind().Group != operatorGroup || o.GetKind() != "FluxInstance" {
		return nil
	}
	sync, found, _ := unstructured.NestedStringMap(o.Object, "spec", "sync")
	if !found {
		return nil
	}
	name := sync["name"]
	if name == "" {
		name = o.GetNamespace()
	}
	ref := map[string]any{}
	if branch, found := strings.CutPrefix(sync["ref"], "refs/heads/"); found {
		ref["branch"] = branch
	} else if sync["ref"] != "" {
		ref["name"] = sync["ref"]
	}
	made := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"url": sync["url"], "ref": ref, "path": sync["path"], "patches": syncPatches(o),
	}}}
	made.SetAPIVersion(sourcev1.GroupVersion.String())
	made.SetKind(sync["kind"])
	made.SetNamespace(o.GetNamespace())
	made.SetName(name)
	return made
}

// syncPatches returns the patches of a FluxInstance that may change its sync.
func syncPatches(o *unstructured.Unstructured) []any {
	var all []any
	for _, one := range mapsAt(o, "spec", "kustomize", "patches") {
		kind := unstructuredString(&unstructured.Unstructured{Object: one}, "target", "kind")
		patch, _ := one["patch"].(string)
		pattern, err := regexp.Compile("^(?:" + kind + ")$")
		others := kind != "" && err == nil || kind == "" && strings.Contains(patch, "kind:")
		for _, synced := range []string{kustomizev1.KustomizationKind, sourcev1.GitRepositoryKind, sourcev1.OCIRepositoryKind, sourcev1.BucketKind} {
			others = others && (kind == "" || !pattern.MatchString(synced)) && (kind != "" || !strings.Contains(patch, synced))
		}
		if !others {
			all = append(all, one)
		}
	}
	return all
}

// isRelevant reports whether the walk needs an object: those of Flux and Winnow, those with variables, and those whose
// deletion deletes others.
func isRelevant(o *unstructured.Unstructured) bool {
	gvk := o.GroupVersionKind()
	groups := []string{sourceGroup, generatorGroup, kustomizationGroup, operatorGroup, v1alpha1.GroupVersion.Group}
	return slices.Contains(groups, gvk.Group) || gvk.Group == "" && (gvk.Kind == "ConfigMap" || gvk.Kind == "Secret") || isContainer(o)
}

// isContainer reports whether the deletion of an object deletes others.
func isContainer(o *unstructured.Unstructured) bool {
	gvk := o.GroupVersionKind()
	return gvk.Group == "" && gvk.Kind == "Namespace" || gvk.Group == "apiextensions.k8s.io"
}
