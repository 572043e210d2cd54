// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
)

// nothingChanges is the verdict on a report without selections in which nothing is unknown.
const nothingChanges = "no CatalogSelection changes"

// verdict returns the first line of a report: what is held, what could not be compared, and what changes. It is empty for a
// single selection with nothing held or unknown: its headline is the verdict.
func verdict(report *diff.Report, classes []diff.Class) string {
	places := map[diff.Effect][]diff.Place{}
	compared := 0
	var all []diff.Place
	for _, c := range classes {
		places[c.Effect] = append(places[c.Effect], c.Selections...)
		all = append(all, c.Selections...)
		compared += len(c.Members())
	}
	others := len(report.Remarks(report.Unknown))
	decided := len(places[diff.EffectHeld]) + len(places[diff.EffectUnknown]) + others
	switch {
	case compared == 0 && others == 0:
		return nothingChanges
	case compared == 1 && (decided == 0 || others == 0 && report.Selections[0].Everything):
		return ""
	case compared == 0:
		return "UNKNOWN: " + plaintext.Count(others, "difference") + " could not be compared"
	}
	var parts []string
	isMixed := len(each.Group(all, nounOf)) > 1
	named := false
	noun := func(some []diff.Place) string { // the first number has it, and each if there are two
		if named && !isMixed {
			return fmt.Sprint(len(some))
		}
		named = true
		return countOf(some)
	}
	add := func(label string, effect diff.Effect) {
		if len(places[effect]) > 0 {
			parts = append(parts, label+": "+noun(places[effect]))
		}
	}
	add("HELD", diff.EffectHeld)
	switch lost := places[diff.EffectUnknown]; {
	case len(lost) > 0 && others > 0:
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

// countOf counts the selections and the promotions at places.
func countOf(places []diff.Place) string {
	var parts plaintext.Texts
	for _, noun := range []string{v1alpha1.CatalogSelectionKind, promotion} {
		n := len(each.Where(places, func(p diff.Place) bool { return nounOf(p) == noun }))
		parts.Add(n > 0, "%s", plaintext.Count(n, noun))
	}
	return strings.Join(parts, " and ")
}
