// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// An edit of path, format or include makes another catalog of the same artifact, so what it takes away is held.
func TestAnEditOfThePlaceHoldsWhatItTakesAway(t *testing.T) {
	definition := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("apiVersion: cozystack.io/v1alpha1\nkind: ApplicationDefinition\nmetadata:\n  name: " + name +
			"\n  labels: {catalog.winnow.dev/tier: gold}\nspec: {}\n")}
	}
	files := map[string]fstest.MapFS{
		"catalog": {"a/application.yaml": definition("a"), "b/application.yaml": definition("b"), "b/c.yaml": definition("c")},
	}
	for _, test := range []struct {
		name          string
		before, after v1alpha1.SourceReference
		want          []string
	}{
		{"nothing changed", v1alpha1.SourceReference{Format: "Definitions"}, v1alpha1.SourceReference{Format: "Definitions"}, nil},
		{"fewer files", v1alpha1.SourceReference{Format: "Definitions"},
			v1alpha1.SourceReference{Format: "Definitions", Include: []string{"b/*"}}, []string{"a"}},
		{"more files", v1alpha1.SourceReference{Format: "Definitions", Include: []string{"b/*"}}, v1alpha1.SourceReference{Format: "Definitions"}, nil},
		{"another format", v1alpha1.SourceReference{Format: "Definitions", Include: []string{"*/application.yaml"}},
			v1alpha1.SourceReference{Format: "Applications", Include: []string{"*/application.yaml"}}, []string{"a", "b"}},
		{"another directory", v1alpha1.SourceReference{Format: "Definitions"}, v1alpha1.SourceReference{Format: "Definitions", Path: "b"}, []string{"a"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			at := func(ref v1alpha1.SourceReference) specEdit {
				ref.Name = "catalog"
				return func(s *v1alpha1.CatalogSelectionSpec) {
					onlyGold(s)
					s.Sources, s.Safeguards.OnEmpty = []v1alpha1.SourceReference{ref}, v1alpha1.SafeguardPublish
				}
			}
			var got []string
			for _, reason := range decide(t, change{at(test.before), at(test.after), files, files}).reasons {
				got = append(got, reason.Application)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("held are %v, want %v", got, test.want)
			}
		})
	}
}
