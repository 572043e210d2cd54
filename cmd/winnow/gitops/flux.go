package gitops

import (
	"fmt"
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

// Object is what a commit applies to a cluster.
type Object struct {
	*unstructured.Unstructured
	// Cluster is the directory of the cluster, and Kustomization what applies the object; empty for the
	// directory itself.
	Cluster, Kustomization string
	// File that the object is written in, before patches.
	File string
	// Unknown says what of the object is not known, in sentences, and Hidden differs where that does.
	Unknown []string
	Hidden  string
}

func (o Object) group() string { return o.GroupVersionKind().Group }

// is reports whether the object is of a kind, and has the name. An object without a namespace may be in
// any.
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
	return digest(textOf(o.Object))
}

func isKustomization(o *unstructured.Unstructured) bool {
	return o.GroupVersionKind().Group == kustomizationGroup && o.GetKind() == kustomizev1.KustomizationKind
}

// follows reports whether a Kustomization applies what is in a repository, and nothing that is made in
// the cluster.
func follows(o *unstructured.Unstructured) bool {
	kind, _, _ := unstructured.NestedString(o.Object, "spec", "sourceRef", "kind")
	return isKustomization(o) && kind != "" && kind != sourcev1.ExternalArtifactKind
}

// kustomization is one of Flux.
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

// directoryOf stands for Flux applying a directory, of which no Kustomization says more.
func directoryOf(dir string) *kustomization {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"path": "./" + dir}}}
	object.SetAPIVersion(kustomizev1.GroupVersion.String())
	object.SetKind(kustomizev1.KustomizationKind)
	return &kustomization{object, kustomizev1.KustomizationSpec{Path: "./" + dir}}
}

// path of the Kustomization in its repository.
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

// sourceName is what messages call the source.
func (k *kustomization) sourceName() string {
	return k.spec.SourceRef.Kind + " " + nameOf(k.source())
}

func nameOf(name types.NamespacedName) string {
	return strings.TrimPrefix(name.String(), "/")
}

// schedule are fields of a Kustomization that say when it is applied, and not what.
func schedule() []string {
	return []string{
		"interval", "retryInterval", "timeout", "wait", "dependsOn", "healthChecks", "healthCheckExprs", "force",
		"serviceAccountName", "prune", "deletionPolicy", "suspend",
	}
}

// content is what decides what the Kustomization applies.
func (k *kustomization) content() string {
	spec, _, _ := unstructured.NestedMap(k.object.Object, "spec")
	for _, field := range schedule() {
		delete(spec, field)
	}
	return textOf(spec)
}

// transforms is what the Kustomization does to what is in its directory.
func (k *kustomization) transforms() string {
	spec, _, _ := unstructured.NestedMap(k.object.Object, "spec")
	for _, field := range append(schedule(), "path", "sourceRef") {
		delete(spec, field)
	}
	return textOf(spec)
}

// textOf writes what was read from YAML as such.
func textOf(value any) string {
	encoded, err := yaml.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(encoded)
}

// references are the variables of postBuild that are elsewhere.
func (k *kustomization) references() []kustomizev1.SubstituteReference {
	if k.spec.PostBuild == nil {
		return nil
	}
	return k.spec.PostBuild.SubstituteFrom
}

// syncOf returns the source that flux-operator makes of a FluxInstance; nil for other objects, and for
// those without.
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
	made := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"url": sync["url"], "ref": ref}}}
	made.SetAPIVersion(sourcev1.GroupVersion.String())
	made.SetKind(sync["kind"])
	made.SetNamespace(o.GetNamespace())
	made.SetName(name)
	return made
}

// matters reports whether an object is looked at: what Flux follows, and what has variables.
func matters(o *unstructured.Unstructured) bool {
	gvk := o.GroupVersionKind()
	groups := []string{sourceGroup, kustomizationGroup, operatorGroup, v1alpha1.GroupVersion.Group}
	return slices.Contains(groups, gvk.Group) || gvk.Group == "" && (gvk.Kind == "ConfigMap" || gvk.Kind == "Secret")
}
