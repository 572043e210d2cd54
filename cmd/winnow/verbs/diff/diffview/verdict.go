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

// verdict returns the first line of a report: what is held, what could not be compared, and what changes. It is empty for
// one selection alone of which nothing is held or unknown: its headline is the verdict.
func verdict(report *diff.Report, classes []diff.Class) string {
	n := map[diff.Effect]int{}
	compared := 0
	for _, c := range classes {
		n[c.Effect] += len(c.Selections)
		compared += len(c.Members())
	}
	others := len(report.Remarks(report.Unknown))
	decided := n[diff.EffectHeld] + n[diff.EffectUnknown] + others
	switch {
	case compared == 0 && others == 0:
		return nothingChanges
	case compared == 1 && (decided == 0 || others == 0 && report.Selections[0].Everything):
		return ""
	case compared == 0:
		return "UNKNOWN: " + plaintext.Count(others, "difference") + " could not be compared"
	}
	var parts []string
	named := false
	noun := func(count int) string { // the first number has it
		if named {
			return fmt.Sprint(count)
		}
		named = true
		return plaintext.Count(count, "CatalogSelection")
	}
	add := func(label string, effect diff.Effect) {
		if n[effect] > 0 {
			parts = append(parts, label+": "+noun(n[effect]))
		}
	}
	add("HELD", diff.EffectHeld)
	switch lost := n[diff.EffectUnknown]; {
	case lost > 0 && others > 0:
		parts = append(parts, "UNKNOWN: "+noun(lost)+", and "+plaintext.Count(others, "other difference"))
	case others > 0:
		parts = append(parts, "UNKNOWN: "+plaintext.Count(others, "difference"))
	default:
		add("UNKNOWN", diff.EffectUnknown)
	}
	add("LOOSENED", diff.EffectLoosened)
	add("changed", diff.EffectChanged)
	add("unchanged", diff.EffectUnchanged)
	return strings.Join(parts, "; ")
}
