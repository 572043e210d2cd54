// SPDX-License-Identifier: Apache-2.0

package patching

import (
	"fmt"

	"github.com/fluxcd/pkg/apis/kustomize"
	"sigs.k8s.io/kustomize/kyaml/resid"
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
		documents, err := factory.RF().SliceFromBytes([]byte(p.Patch))
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
