// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/guard"
)

// place is a catalog, then and now, under the name of its source.
type place struct {
	ref       v1alpha1.SourceReference
	then, now *catalog.Catalog
}

// sidesOf returns the sources of places with the catalogs that content returns.
func sidesOf(places []place, content func(place) *catalog.Catalog) []guard.Source {
	cs := edit(func(*v1alpha1.CatalogSelectionSpec) {})
	var sources []guard.Source
	for _, p := range places {
		kind, name := guard.SourceKey(cs, p.ref)
		sources = append(sources, guard.Source{Kind: kind, Name: name, Catalog: content(p)})
	}
	return sources
}

// versionsOf returns <name> <version> for all that a spec selects.
func versionsOf(t *testing.T, cs *v1alpha1.CatalogSelection, sources []guard.Source) []string {
	t.Helper()
	opts, err := render.FromSpec(cs)
	if err != nil {
		t.Fatal(err)
	}
	decided, err := render.Decide(t.Context(), guard.Selections(sources), opts)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, d := range decided.Applications() {
		for _, v := range d.Versions {
			all = append(all, d.Application.Name+" "+v)
		}
	}
	return all
}

// Whatever an edit does to the order, the names, the limits and the merges of sources: a loss that is not held is made by
// the new spec over the last catalogs.
func TestRandomEditsOfSourcesExcuseWhatTheyLose(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	one := func(values ...string) string { return values[random.IntN(len(values))] }
	content := func() *catalog.Catalog {
		var words []string
		for _, version := range []string{"1.0.0", "2.0.0", "3.0.0"} {
			if random.IntN(2) > 0 {
				words = append(words, version+"="+one("", "stable", "fast")+"="+one("", ">=1.31", ">=1.33"))
			}
		}
		c := withFacts(t, strings.Join(words, " ")).Catalog
		for _, a := range c.Applications {
			a.Metadata.Tier = one("gold", "silver")
		}
		c.Digest = fmt.Sprint(random.Uint64())
		return c
	}
	spec := func(places []place) *v1alpha1.CatalogSelection {
		kubernetes, latest, tier := one("", "", "1.32.1"), random.IntN(4), one("", "", "gold")
		return edit(func(s *v1alpha1.CatalogSelectionSpec) {
			s.Sources = nil
			for i, p := range places {
				ref := v1alpha1.SourceReference{Name: p.ref.Name}
				if i > 0 && random.IntN(2) == 0 {
					ref.Merge = v1alpha1.MergeVersions
				}
				if tier := one("", "", "gold", "silver"); tier != "" {
					limit := tiers(tier)
					ref.Limit = &limit
				}
				s.Sources = append(s.Sources, ref)
			}
			if kubernetes != "" {
				s.Platform = &v1alpha1.Platform{Kubernetes: []string{kubernetes}}
			}
			if latest > 0 {
				s.Versions = []v1alpha1.VersionRule{{Latest: int32(latest)}}
			}
			if tier != "" {
				limit := tiers(tier)
				s.Limit = &limit
			}
			s.Safeguards.OnEmpty = v1alpha1.SafeguardPublish
		})
	}
	excused, held := 0, 0
	for range 500 {
		places := make([]place, 2+random.IntN(2))
		for i := range places {
			then := content()
			places[i] = place{v1alpha1.SourceReference{Name: string(rune('a' + i))}, then, then}
			if random.IntN(2) == 0 {
				places[i].now = content()
			}
		}
		was := places[:1+random.IntN(len(places))]
		var is []place
		for _, i := range random.Perm(len(places)) {
			p := places[i]
			if random.IntN(2) == 0 {
				p.ref.Name += "-renamed"
			}
			if random.IntN(4) > 0 || len(is) == 0 {
				is = append(is, p)
			}
		}
		before, after := spec(was), spec(is)
		then := func(p place) *catalog.Catalog { return p.then }
		now := func(p place) *catalog.Catalog { return p.now }
		known := func(p place) *catalog.Catalog {
			if !slices.ContainsFunc(was, func(w place) bool { return w.then == p.then }) {
				return &catalog.Catalog{}
			}
			return p.then
		}
		result := rendered(t, after, sidesOf(is, now)...)
		published := versionsOf(t, before, sidesOf(was, then))
		verdict := guard.Decide(t.Context(), recorded(t, before, sidesOf(was, then)...), guard.Next{Selection: after, Sources: sidesOf(is, now), Result: result})
		var holds []string
		for _, c := range verdict.Held {
			for _, v := range c.Versions {
				holds = append(holds, c.Key.Name+" "+v)
			}
		}
		bare := after.DeepCopy()
		bare.Spec.Platform = nil
		kept, with, without := versionsOf(t, after, sidesOf(is, now)), versionsOf(t, after, sidesOf(is, known)), versionsOf(t, bare, sidesOf(is, known))
		for _, version := range published {
			switch {
			case slices.Contains(kept, version):
			case slices.Contains(holds, version):
				held++
			case slices.Contains(with, version) || slices.Contains(without, version):
				describe := func(cs *v1alpha1.CatalogSelection) string { text, _ := json.Marshal(cs.Spec); return string(text) }
				t.Fatalf("%s is lost from %v and not held: over the last catalogs %v\nfrom %s\nto   %s", version, published, with, describe(before), describe(after))
			default:
				excused++
			}
		}
	}
	if excused < 100 || held < 100 {
		t.Errorf("%d losses were excused, and %d held", excused, held)
	}
}
