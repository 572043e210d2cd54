// SPDX-License-Identifier: Apache-2.0

package patching

import (
	"fmt"
	"slices"

	"github.com/fluxcd/pkg/apis/kustomize"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/winnow-dev/winnow/render/bounded"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/kustomized"
)

// entry is a patch with a target, or a document of one without, which names its object itself.
type entry struct {
	kustomize.Patch
	// of is the index of the patch in the list.
	of int
	// named is empty for a patch with a target, and for what kustomize does not read as a strategic merge patch.
	named resid.ResId
}

// entriesOf returns the entries of patches, in order.
func entriesOf(patches []kustomize.Patch) ([]entry, error) {
	var all []entry
	for i, p := range patches {
		if p.Target != nil {
			all = append(all, entry{Patch: p, of: i})
			continue
		}
		documents, err := kustomized.Factory().RF().SliceFromBytes([]byte(p.Patch))
		if err != nil {
			all = append(all, entry{Patch: p, of: i})
			continue
		}
		for _, document := range documents {
			e := entry{Patch: p, of: i, named: normal(document.OrgId())}
			if len(documents) > 1 {
				if e.Patch.Patch, err = document.RNode.String(); err != nil {
					return nil, fmt.Errorf("writing the patch of %s: %w", e.named, err)
				}
			}
			all = append(all, e)
		}
	}
	return all, nil
}

// Touching returns the indexes of the patches that may change an object, by its kind and its name: what a target says about
// labels, annotations, the group and the namespace is taken to match.
func Touching(patches []kustomize.Patch, kind, name string) []int {
	entries, err := entriesOf(patches)
	if err != nil {
		return nil
	}
	var touching []int
	for _, e := range entries {
		touches := e.named.Kind == kind && e.named.Name == name
		if e.Target != nil {
			touches = selects(e.Target.Kind, kind) && selects(e.Target.Name, name)
		}
		if touches && !slices.Contains(touching, e.of) {
			touching = append(touching, e.of)
		}
	}
	return touching
}

// maxFields bounds the patches that a message lists.
const maxFields = 5

// Fields returns the fields of patches in a spec, by their indexes, for a message.
func Fields(indexes []int) string {
	return excerpt.List(indexes, maxFields, func(i int) string { return fmt.Sprintf("spec.patches[%d]", i) })
}

// selects reports whether a regular expression of a target, which kustomize anchors, selects a text; an empty one selects all.
func selects(expression, text string) bool {
	if expression == "" {
		return true
	}
	anchored, err := bounded.Compile("^(?:" + expression + ")$")
	return err == nil && anchored.MatchString(text)
}
