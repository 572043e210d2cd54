// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
)

// nothingChanges is the verdict on a report without selections in which nothing is unknown.
const nothingChanges = "no CatalogSelection changes"

// verdict returns the first line of a report: what is held, what could not be compared, and what changes. It is empty for a
// single selection with nothing held or unknown: its headline is the verdict.
func verdict(report *diff.Report, classes []diff.Class) string {
	n := map[diff.Effect]tally{}
	compared := 0
	var all tally
	for _, c := range classes {
		n[c.Effect] = n[c.Effect].with(c.Selections)
		all = all.with(c.Selections)
		compared += len(c.Members())
	}
	others := len(report.Remarks(report.Unknown))
	decided := n[diff.EffectHeld].total() + n[diff.EffectUnknown].total() + others
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
	noun := func(count tally) string { // the first number has it, and each if there are two
		if named && !all.isMixed() {
			return fmt.Sprint(count.total())
		}
		named = true
		return count.String()
	}
	add := func(label string, effect diff.Effect) {
		if n[effect].total() > 0 {
			parts = append(parts, label+": "+noun(n[effect]))
		}
	}
	add("HELD", diff.EffectHeld)
	switch lost := n[diff.EffectUnknown]; {
	case lost.total() > 0 && others > 0:
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

// tally has numbers of selections and of promotions.
type tally struct{ selections, promotions int }

func (t tally) with(places []diff.Place) tally {
	for _, place := range places {
		if place.Kind != "" {
			t.promotions++
		} else {
			t.selections++
		}
	}
	return t
}

func (t tally) total() int    { return t.selections + t.promotions }
func (t tally) isMixed() bool { return t.selections > 0 && t.promotions > 0 }

func (t tally) String() string {
	var parts []string
	for _, one := range []struct {
		n    int
		noun string
	}{{t.selections, v1alpha1.CatalogSelectionKind}, {t.promotions, "promotion"}} {
		if one.n > 0 {
			parts = append(parts, plaintext.Count(one.n, one.noun))
		}
	}
	return strings.Join(parts, " and ")
}
