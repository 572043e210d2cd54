// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
)

// servedCounts returns the numbers of catalogs that serve the packages, by their changes.
func servedCounts(all []diff.ServedCatalog) []string {
	n := map[diff.Change]int{}
	for _, c := range all {
		n[c.Change]++
	}
	return counts([]counted{{n[diff.Removed], "removed"}, {n[diff.Updated], "updated"}, {n[diff.Added], "added"}}, "catalog of OLM")
}

func servedTitle(c diff.ServedCatalog) string {
	title := fmt.Sprintf("%s %s: %s", sign(c.Change), c.Object, c.Change)
	switch {
	case c.Deleted == nil:
		return title
	case *c.Deleted:
		return title + "; Flux deletes it"
	}
	return title + "; Flux keeps it"
}

// served returns the catalogs that change, with their fields.
func served(all []diff.ServedCatalog) []entry {
	return each.Map(all, func(c diff.ServedCatalog) entry {
		return entry{text: servedTitle(c), below: fieldEntries(wording{}, c.Fields, c.FieldsOmitted)}
	})
}
