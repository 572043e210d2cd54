// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// The withdrawals of a change are what it takes from those who use it, and what it deprecates. What is added, updated or moved is none.
func TestSubjectsOfAChange(t *testing.T) {
	of := func(apps files) *comparing.Side { return side(t, selectionWith(nil), sourceOf(t, sumA, apps)) }
	old := files{"gone": versions("1.0.0", "2.0.0"), "less": versions("1.0.0", "2.0.0"), "same": versions("1.0.0")}
	for name, test := range map[string]struct {
		from, to *comparing.Side
		adopted  []safeguard.Change
		moves    []diff.Move
		want     string
	}{
		"nothing is lost":                                                {of(old), of(files{"gone": versions("1.0.0", "2.0.0", "3.0.0"), "less": versions("1.0.0", "2.0.0"), "same": versions("1.0.0"), "new": versions("1.0.0")}), nil, nil, ""},
		"an application, and a version of another":                       {of(old), of(files{"less": versions("2.0.0"), "same": versions("1.0.0")}), nil, nil, "gone, less 1.0.0"},
		"an application that moves":                                      {of(old), of(files{"less": versions("1.0.0", "2.0.0"), "same": versions("1.0.0")}), nil, []diff.Move{{Application: "gone"}}, ""},
		"a selection that is removed":                                    {of(old), nil, nil, nil, "gone, less, same"},
		"a selection that is removed, and one of its applications moves": {of(old), nil, nil, []diff.Move{{Application: "less"}}, "gone, same"},
		"a selection that is added":                                      {nil, of(old), nil, nil, ""},
		"a version that only the giver of an application has": {nil, of(old), []safeguard.Change{{Reason: v1alpha1.AdoptionReason,
			Key: safeguard.Key{Group: "apps.kubermatic.k8c.io", Kind: "ApplicationDefinition", Name: "same"}, Versions: []string{"0.9.0"}}}, nil, "same 0.9.0"},
	} {
		t.Run(name, func(t *testing.T) {
			s := compare(t, test.from, test.to, test.adopted...)
			s.Moves = test.moves
			var got []string
			for _, one := range s.Withdrawals() {
				got = append(got, strings.TrimSpace(one.Name+" "+one.Version))
			}
			slices.Sort(got)
			if strings.Join(got, ", ") != test.want {
				t.Errorf("got %q, want %s", got, test.want)
			}
		})
	}
}
