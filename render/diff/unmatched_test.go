// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff/comparing"
)

func TestNamesThatMatchNothingAreNotes(t *testing.T) {
	source := sourceOf(t, sumA, files{"argocd": versions("1.0.0"), "falco": versions("1.0.0")})
	misspelt := side(t, selectionWith(func(spec *v1alpha1.CatalogSelectionSpec) { spec.Exclude = []string{"falko"} }), source)
	right := side(t, selectionWith(func(spec *v1alpha1.CatalogSelectionSpec) { spec.Exclude = []string{"falco"} }), source)
	note := `spec.exclude[0] "falko" matches nothing in the catalogs: did you mean "falco"? (the catalogs have "argocd", "falco")`
	for _, c := range []struct {
		name     string
		from, to *comparing.Side
		want     []string
	}{
		{"the edit misspells", right, misspelt, []string{note}},
		{"it was misspelt before", misspelt, misspelt, []string{note}},
		{"the edit corrects", misspelt, right, []string{}},
		{"the selection is new", nil, misspelt, []string{note}},
		{"the selection goes", misspelt, nil, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			compared, err := comparing.Compare(t.Context(), c.from, c.to)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(compared.Notes, c.want) {
				t.Errorf("notes %q, want %q", compared.Notes, c.want)
			}
		})
	}
}
