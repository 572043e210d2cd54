// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
)

func TestALossByThePlatformIsHeldAndNamesIt(t *testing.T) {
	const requires = "---\nversions: {2.0.0: {requires: {kubernetes: '>=1.34'}}, 1.0.0: {requires: {kubernetes: '>=1.32'}}}\n"
	source := sourceOf(t, sumA, files{"app": versions("2.0.0", "1.0.0") + requires, "other": versions("1.0.0")})
	on := func(version string) *v1alpha1.CatalogSelection {
		return selectionWith(func(s *v1alpha1.CatalogSelectionSpec) { s.Platform = &v1alpha1.Platform{Kubernetes: []string{version}} })
	}
	for _, test := range []struct{ name, version, want, held string }{
		{"of a version", "1.33.2", "app updated; 2.0.0 removedplatform; lower 2.0.0->1.0.0", "VersionRemoval"},
		{"of an application", "1.31.0", "app removed; by platform: none of its versions runs on the platform (kubernetes 1.31.0): " +
			"2.0.0 requires kubernetes >=1.34, 1.0.0 requires kubernetes >=1.32; 2.0.0 removedplatform; 1.0.0 removedplatform", "Removal"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := compare(t, side(t, selectionWith(nil), source), side(t, on(test.version), source))
			if len(s.Applications) != 1 || told(s.Applications[0]) != test.want {
				t.Errorf("got  %s\nwant %s", told(s.Applications[0]), test.want)
			}
			if s.Held == nil || len(s.Held.Reasons) != 1 || s.Held.Reasons[0].Reason != test.held || len(s.Held.Approve) != 1 {
				t.Fatalf("held: %+v", s.Held)
			}
			approved := on(test.version)
			approved.Spec.Safeguards.Approve = s.Held.Approve
			again := compare(t, side(t, selectionWith(nil), source), side(t, approved, source))
			if again.Held == nil || !again.Held.Approved {
				t.Errorf("with %v it is held still: %+v", s.Held.Approve, again.Held)
			}
		})
	}
}

func TestADeprecatedVersionTripsDeprecation(t *testing.T) {
	before := sourceOf(t, sumA, files{"app": versions("1.0.0")})
	after := sourceOf(t, sumB, files{"app": versions("1.0.0") + "---\nversions: {1.0.0: {deprecated: old}}\n"})
	s := compare(t, side(t, selectionWith(nil), before), side(t, selectionWith(nil), after))
	if trips := diff.New(s).Trips([]string{"deprecation"}); !slices.Equal(trips, []string{"deprecation: app 1.0.0"}) || s.Counts.VersionsDeprecated != 1 {
		t.Errorf("--fail-on deprecation finds %q, the counts are %+v", trips, s.Counts)
	}
}
