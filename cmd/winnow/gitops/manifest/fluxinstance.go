// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/render/bounded"
)

// Sync has the objects that flux-operator creates for spec.sync of a FluxInstance, without its patches.
type Sync struct {
	Source, Kustomization *unstructured.Unstructured
	// Patches are the ones of spec.kustomize that may change these objects.
	Patches []any
}

// SyncOf returns the sync of a FluxInstance. It returns nil for other objects and without spec.sync.
func SyncOf(o *unstructured.Unstructured) *Sync {
	if o.GroupVersionKind().Group != OperatorGroup || o.GetKind() != "FluxInstance" {
		return nil
	}
	sync, found, _ := unstructured.NestedStringMap(o.Object, "spec", "sync")
	if !found {
		return nil
	}
	ref := map[string]any{}
	if branch, found := strings.CutPrefix(sync["ref"], "refs/heads/"); found {
		ref["branch"] = branch
	} else if sync["ref"] != "" {
		ref["name"] = sync["ref"]
	}
	name := cmp.Or(sync["name"], o.GetNamespace())
	object := func(version schema.GroupVersion, kind string, spec map[string]any) *unstructured.Unstructured {
		made := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		made.SetGroupVersionKind(version.WithKind(kind))
		made.SetNamespace(o.GetNamespace())
		made.SetName(name)
		return made
	}
	return &Sync{
		object(sourcev1.GroupVersion, sync["kind"], map[string]any{"url": sync["url"], "ref": ref}),
		object(kustomizev1.GroupVersion, kustomizev1.KustomizationKind, map[string]any{
			"path": "./" + repository.CleanPath(sync["path"]), "prune": true, "sourceRef": map[string]any{"kind": sync["kind"], "name": name},
		}),
		syncPatches(o),
	}
}

// Digest returns a digest of the objects and the patches.
func (s *Sync) Digest() string {
	return inputs.Digest(documents.JSONOf(s.Source.Object), documents.JSONOf(s.Kustomization.Object), documents.JSONOf(s.Patches))
}

// syncPatches returns the patches of a FluxInstance that may change its sync.
func syncPatches(o *unstructured.Unstructured) []any {
	synced := []string{kustomizev1.KustomizationKind, sourcev1.GitRepositoryKind, sourcev1.OCIRepositoryKind, sourcev1.BucketKind}
	var all []any
	for _, one := range MapsAt(o, "spec", "kustomize", "patches") {
		kind := StringAt(&unstructured.Unstructured{Object: one}, "target", "kind")
		patch, _ := one["patch"].(string)
		kinds, err := bounded.Compile("^(?:" + kind + ")$")
		mayChange := err != nil || slices.ContainsFunc(synced, kinds.MatchString)
		if kind == "" {
			mayChange = !strings.Contains(patch, "kind:") || documents.Mentions([]byte(patch), synced...)
		}
		if mayChange {
			all = append(all, one)
		}
	}
	return all
}
