// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/render/pattern"
)

// SyncOf returns the source that flux-operator creates for a FluxInstance. It returns nil for other objects
// and without spec.sync.
func SyncOf(o *unstructured.Unstructured) *unstructured.Unstructured {
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
	made := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"url": sync["url"], "ref": ref, "path": sync["path"], "patches": syncPatches(o),
	}}}
	made.SetAPIVersion(sourcev1.GroupVersion.String())
	made.SetKind(sync["kind"])
	made.SetNamespace(o.GetNamespace())
	made.SetName(cmp.Or(sync["name"], o.GetNamespace()))
	return made
}

// syncPatches returns the patches of a FluxInstance that may change its sync.
func syncPatches(o *unstructured.Unstructured) []any {
	var all []any
	for _, one := range MapsAt(o, "spec", "kustomize", "patches") {
		kind := StringAt(&unstructured.Unstructured{Object: one}, "target", "kind")
		patch, _ := one["patch"].(string)
		kinds, err := pattern.Compile("^(?:" + kind + ")$")
		others := kind != "" && err == nil || kind == "" && strings.Contains(patch, "kind:")
		for _, synced := range []string{kustomizev1.KustomizationKind, sourcev1.GitRepositoryKind, sourcev1.OCIRepositoryKind, sourcev1.BucketKind} {
			others = others && (kind == "" || !kinds.MatchString(synced)) && (kind != "" || !strings.Contains(patch, synced))
		}
		if !others {
			all = append(all, one)
		}
	}
	return all
}
