// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Whoever adds the second sources publishes what was published, from the source that had it, and nothing else.
func TestSecondSourcesKeepWhatWasPublishedAndNothingElse(t *testing.T) {
	gold := &v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: []string{"gold"}}}
	named := func(name string, source guard.Source) guard.Source {
		source.Name.Name = name
		return source
	}
	many := files{"keep": versions("1.0.0") + "---\ntier: gold\n", "refused": versions("1.0.0") + "---\ntier: silver\n"}
	for i := range 60 {
		many[fmt.Sprintf("a%02d", i)] = versions("1.0.0") + "---\ntier: gold\n"
	}
	one := func(version, tier string) files {
		return files{"keep": versions("1.0.0") + "---\ntier: gold\n", "lost": versions(version) + "---\ntier: " + tier + "\n"}
	}
	without := files{"keep": versions("1.0.0") + "---\ntier: gold\n"}
	for _, test := range []struct {
		name          string
		limits        []*v1alpha1.Limit
		before, after []files
		want          []string // names of the sources to add
	}{
		{"more than a limit can name", []*v1alpha1.Limit{gold}, []files{many}, []files{without}, []string{"s0-aaaaaaa"}},
		{"of a source whose limit refused it, and of another one", []*v1alpha1.Limit{gold, nil},
			[]files{one("1.0.0", "silver"), one("1.0.0", "gold")}, []files{without, without}, []string{"s1-aaaaaaa"}},
		{"of a source that was shadowed, and of the first one", []*v1alpha1.Limit{nil, nil},
			[]files{one("1.0.0", "gold"), one("1.0.0", "gold")}, []files{without, without}, []string{"s0-aaaaaaa"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cs := selectionWith(func(s *v1alpha1.CatalogSelectionSpec) {
				s.Sources = nil
				for i, limit := range test.limits {
					s.Sources = append(s.Sources, v1alpha1.SourceReference{Name: fmt.Sprintf("s%d", i), Limit: limit})
				}
			})
			sources := func(sum string, all []files) []guard.Source {
				var out []guard.Source
				for i, content := range all {
					out = append(out, named(fmt.Sprintf("s%d", i), sourceOf(t, sum, content)))
				}
				return out
			}
			from, to := side(t, cs, sources(sumA, test.before)...), sources(sumB, test.after)
			report := compare(t, from, side(t, cs, to...))
			added := cs.DeepCopy()
			var got []string
			for _, second := range report.Held.SecondSources {
				got = append(got, second.Reference.Name)
				i := slices.IndexFunc(from.Sources, func(s guard.Source) bool { return s.Name.Name == second.Name })
				added.Spec.Sources = append(added.Spec.Sources, second.Reference)
				to = append(to, named(second.Reference.Name, from.Sources[i]))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("the second sources are %q, want %q", got, test.want)
			}
			published := func(s *comparing.Side) []string {
				var all []string
				for _, d := range s.Result.Definitions {
					all = append(all, fmt.Sprint(d.Name, d.Versions, strings.TrimSuffix(d.Source, "-aaaaaaa")))
				}
				return all
			}
			if kept, want := published(side(t, added, to...)), published(from); !slices.Equal(kept, want) {
				t.Errorf("with them, published are\n%q, want\n%q", kept, want)
			}
		})
	}
}

// What another selection loses by a move does not take away the advice on what leaves the catalog.
func TestAnAdoptionLeavesTheSecondSources(t *testing.T) {
	cs := selectionWith(nil)
	from := side(t, cs, sourceOf(t, sumA, files{"keep": versions("1.0.0"), "lost": versions("1.0.0")}))
	to := side(t, cs, sourceOf(t, sumB, files{"keep": versions("1.0.0")}))
	key := safeguard.Key{Group: "apps.kubermatic.k8c.io", Kind: "ApplicationDefinition", Name: "keep"}
	s := compare(t, from, to, safeguard.Change{Key: key, Reason: v1alpha1.VersionRemovalReason, Versions: []string{"0.9.0"}})
	if len(s.Held.Reasons) != 2 || len(s.Held.SecondSources) != 1 {
		t.Errorf("held: %d reasons, second sources %+v", len(s.Held.Reasons), s.Held.SecondSources)
	}
}
