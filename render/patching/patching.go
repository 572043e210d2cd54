// SPDX-License-Identifier: Apache-2.0

// Package patching bounds and proves patches: how much they may add, and that with them kustomize builds the selected
// objects and no others. It must not know applications and instances.
package patching

import (
	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/render/tree"
)

// Of returns patches of Flux as a kustomization.yaml has them.
func Of(patches []kustomize.Patch) []tree.Patch {
	var out []tree.Patch
	for _, p := range patches {
		converted := tree.Patch{Patch: p.Patch}
		if t := p.Target; t != nil {
			converted.Target = &tree.Target{
				Group: t.Group, Version: t.Version, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name,
				LabelSelector: t.LabelSelector, AnnotationSelector: t.AnnotationSelector,
			}
		}
		out = append(out, converted)
	}
	return out
}
