// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// ownerNotes returns a sentence for each Kustomization that owns definitions which the publication adopts.
func ownerNotes(entering []safeguard.Definition, live map[safeguard.Key]comparing.Live) []string {
	held := map[string]int{}
	for _, d := range entering {
		if owner := guard.OwnerOf(&unstructured.Unstructured{Object: live[d.Key()].Object}); owner.Name != "" {
			held[owner.String()]++
		}
	}
	var notes []string
	for _, owner := range slices.Sorted(maps.Keys(held)) {
		notes = append(notes, fmt.Sprintf("%s applied by the Kustomization %s: unless this artifact becomes its source, "+
			"the selection waits (Conflict) until it has let go", are(held[owner]), owner))
	}
	return notes
}

func are(n int) string {
	if n == 1 {
		return "1 live definition is"
	}
	return fmt.Sprintf("%d live definitions are", n)
}
