// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/guard"
)

func tiered(tier string) string { return versions("1.0.0") + "---\ntier: " + tier + "\n" }

func selectingTiers(tiers ...string) *v1alpha1.CatalogSelection {
	return selectionWith(func(s *v1alpha1.CatalogSelectionSpec) {
		s.Limit = &v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: tiers}}
	})
}

func TestWhatTheNewSpecLosesOverTheOldCatalog(t *testing.T) {
	tests := []struct {
		name          string
		before, after files
		from, to      *v1alpha1.CatalogSelection
		want          string
	}{
		{
			name:   "the catalog renames a tier, and the spec follows",
			before: files{"a": tiered("gold"), "b": tiered("silver")}, after: files{"a": tiered("gold"), "b": tiered("standard")},
			from: selectingTiers("gold", "silver"), to: selectingTiers("gold", "standard"),
			want: `b removed [1.0.0] its tier is "silver", and limit.metadataSelector.tierRefs requires "gold" or "standard"; widen-first`,
		},
		{
			name:   "the spec drops a tier that the catalog empties",
			before: files{"a": tiered("gold"), "b": tiered("silver")}, after: files{"a": tiered("gold"), "b": tiered("gold")},
			from: selectingTiers("gold", "silver"), to: selectingTiers("gold"),
			want: `b removed [1.0.0] its tier is "silver", and limit.metadataSelector.tierRefs requires "gold"; catalog-first`,
		},
		{
			name:   "the spec keeps only versions that the catalog adds",
			before: files{"a": versions("1.0.0", "1.1.0")}, after: files{"a": versions("1.0.0", "1.1.0", "2.0.0")},
			from: selectionWith(nil), to: selectionWith(func(s *v1alpha1.CatalogSelectionSpec) {
				s.Versions = []v1alpha1.VersionRule{{Constraint: ">=1.1.0"}}
			}),
			want: "nothing",
		},
		{
			name:   "a version is lost in between alone",
			before: files{"a": versions("1.0.0", "1.1.0", "2.0.0")}, after: files{"a": versions("1.0.0", "1.1.0")},
			from: selectionWith(nil), to: selectionWith(func(s *v1alpha1.CatalogSelectionSpec) {
				s.Versions = []v1alpha1.VersionRule{{Latest: 2}}
			}),
			want: "a updated [1.0.0]; catalog-first",
		},
		{
			name:   "the spec loses the same over both",
			before: files{"a": tiered("gold"), "b": tiered("silver")}, after: files{"a": tiered("gold"), "b": tiered("silver")},
			from: selectingTiers("gold", "silver"), to: selectingTiers("gold"), want: "nothing",
		},
		{
			name:   "nothing is selected in between, which is held",
			before: files{"b": tiered("silver")}, after: files{"b": tiered("standard")},
			from: selectingTiers("silver"), to: selectingTiers("standard"), want: "nothing",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			older, newer := sourceOf(t, sumA, test.before), sourceOf(t, sumB, test.after)
			render := func(cs *v1alpha1.CatalogSelection, s guard.Source) *comparing.Side { return side(t, cs, s) }
			got := comparing.NewTransient(render(test.from, older), render(test.to, newer), render(test.to, older), render(test.from, newer))
			if between(got) != test.want {
				t.Errorf("got  %s\nwant %s", between(got), test.want)
			}
			s := diff.NewSelection(test.to)
			s.Transient = got
			if trips := diff.New(s).Trips([]string{"transient"}); (len(trips) > 0) != (got != nil) {
				t.Errorf("--fail-on transient finds %q", trips)
			}
		})
	}
}

func between(t *diff.Transient) string {
	if t == nil {
		return "nothing"
	}
	var parts []string
	for _, l := range t.Losses {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %s %v %s", l.Application, l.Change, l.Versions, l.Reason)))
	}
	return strings.Join(parts, ", ") + "; " + string(t.Advice)
}

func TestAStateThatCannotBeRenderedLosesNothing(t *testing.T) {
	from := side(t, selectingTiers("gold"), sourceOf(t, sumA, files{"a": tiered("gold")}))
	if got := comparing.NewTransient(from, from, nil, nil); got != nil {
		t.Errorf("got %s", between(got))
	}
}

func TestWhyTheEditRemovesWhatTheNewCatalogLacks(t *testing.T) {
	before := sourceOf(t, sumA, files{"a": versions("1.0.0"), "b": versions("1.0.0")})
	edited := selectionWith(func(s *v1alpha1.CatalogSelectionSpec) { s.Exclude = []string{"b"} })
	s := compare(t, side(t, selectionWith(nil), before), side(t, edited, sourceOf(t, sumB, files{"a": versions("1.0.0")})))
	comparing.Explain(s, side(t, edited, before))
	if got := told(s.Applications[0]); got != "b removed; by spec: exclude names it; 1.0.0 removedspec" {
		t.Errorf("got %s", got)
	}
}
