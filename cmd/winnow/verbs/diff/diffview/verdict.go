// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
)

// nothingChanges is the verdict on a report without selections in which nothing is unknown.
const nothingChanges = "no CatalogSelection changes"

// verdict returns the first line of a report: what could not be compared, and the number of the selections. It is empty
// for one selection alone, whose headline is the verdict.
func verdict(report *diff.Report) string {
	counted := selectionCounts(report.Selections)
	switch n := len(report.Unknown); {
	case n > 0:
		parts := []string{"UNKNOWN: " + plaintext.Count(n, "difference") + " could not be compared"}
		if counted != "" {
			parts = append(parts, counted)
		}
		return strings.Join(parts, "; ")
	case counted == "":
		return nothingChanges
	case len(report.Selections) > 1:
		return counted
	}
	return ""
}

// selectionCounts returns the number of the selections in a report, of those that are held, and of those that were not compared;
// empty without a selection.
func selectionCounts(all []*diff.Selection) string {
	if len(all) == 0 {
		return ""
	}
	held, lost := 0, 0
	for _, s := range all {
		if s.Held != nil && !s.Held.Approved {
			held++
		}
		if s.Error != "" || len(s.Unknown) > 0 {
			lost++
		}
	}
	text := fmt.Sprintf("CatalogSelections that differ: %d", len(all))
	if held > 0 {
		text += fmt.Sprintf(", HELD: %d", held)
	}
	if lost > 0 {
		text += fmt.Sprintf(", not compared: %d", lost)
	}
	return text
}
