// SPDX-License-Identifier: Apache-2.0

package selection_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/selection"
)

// source returns a catalog of "name" or "name:tier", each a word.
func source(name, applications string) selection.Source {
	content := &catalog.Catalog{}
	for _, word := range strings.Fields(applications) {
		application, tier, _ := strings.Cut(word, ":")
		content.Applications = append(content.Applications, &catalog.Application{
			Name: application, Path: name + "/" + application, Metadata: metadata.Metadata{Tier: tier},
		})
	}
	return selection.Source{Name: name, Catalog: content}
}

// lines renders a result completely: a line for each decision, then the counts.
func lines(result selection.Result) string {
	var text strings.Builder
	for _, decision := range result.Decisions {
		mark := "-"
		if decision.Selected {
			mark = "+"
		}
		fmt.Fprintf(&text, "%s %s of %s: %s: %s\n", mark, decision.Application.Name, decision.Source, decision.Rule, decision.Reason)
	}
	fmt.Fprintf(&text, "%d available, %d selected, %d excluded, %d shadowed\n",
		result.Available, result.Selected, result.Excluded, result.Shadowed)
	return text.String()
}

// choose is Select where it cannot fail.
func choose(t testing.TB, sources []selection.Source, criteria selection.Criteria) selection.Result {
	t.Helper()
	result, err := selection.Select(context.Background(), sources, criteria)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestSelectDecidesOnEveryApplication(t *testing.T) {
	kkp := []selection.Source{source("kkp", "argocd:gold falco:silver nginx:bronze velero")}
	for _, test := range []struct {
		name     string
		sources  []selection.Source
		criteria selection.Criteria
		want     string
	}{
		{"no limit selects everything", kkp, selection.Criteria{}, `
+ argocd of kkp: selected: nothing limits the selection
+ falco of kkp: selected: nothing limits the selection
+ nginx of kkp: selected: nothing limits the selection
+ velero of kkp: selected: nothing limits the selection
4 available, 4 selected, 0 excluded, 0 shadowed
`},
		{"one of the tiers has to match", kkp, selection.Criteria{Tiers: []string{"silver", "gold", "gold"}}, `
+ argocd of kkp: selected: it meets limit.metadataSelector.tierRefs
+ falco of kkp: selected: it meets limit.metadataSelector.tierRefs
- nginx of kkp: limit.metadataSelector.tierRefs: its tier is "bronze", and limit.metadataSelector.tierRefs requires "gold" or "silver"
- velero of kkp: limit.metadataSelector.tierRefs: it has no tier, and limit.metadataSelector.tierRefs requires "gold" or "silver"
4 available, 2 selected, 2 excluded, 0 shadowed
`},
		{"one of the names has to match", kkp, selection.Criteria{Names: []string{"nginx", "argocd"}}, `
+ argocd of kkp: selected: it meets limit.nameSelector
- falco of kkp: limit.nameSelector: limit.nameSelector does not name it
+ nginx of kkp: selected: it meets limit.nameSelector
- velero of kkp: limit.nameSelector: limit.nameSelector does not name it
4 available, 2 selected, 2 excluded, 0 shadowed
`},
		{"tiers and names have to match both", kkp, selection.Criteria{Tiers: []string{"gold"}, Names: []string{"argocd", "nginx"}}, `
+ argocd of kkp: selected: it meets limit.nameSelector and limit.metadataSelector.tierRefs
- falco of kkp: limit.nameSelector: limit.nameSelector does not name it
- nginx of kkp: limit.metadataSelector.tierRefs: its tier is "bronze", and limit.metadataSelector.tierRefs requires "gold"
- velero of kkp: limit.nameSelector: limit.nameSelector does not name it
4 available, 1 selected, 3 excluded, 0 shadowed
`},
		{"the case of a tier matters, and names match as a whole", kkp, selection.Criteria{Tiers: []string{"Gold"}, Names: []string{"argo", "argocd"}}, `
- argocd of kkp: limit.metadataSelector.tierRefs: its tier is "gold", and limit.metadataSelector.tierRefs requires "Gold"
- falco of kkp: limit.nameSelector: limit.nameSelector does not name it
- nginx of kkp: limit.nameSelector: limit.nameSelector does not name it
- velero of kkp: limit.nameSelector: limit.nameSelector does not name it
4 available, 0 selected, 4 excluded, 0 shadowed
`},
		{"exclude wins over limit", kkp, selection.Criteria{Names: []string{"argocd", "falco"}, Exclude: []string{"falco", "nginx"}}, `
+ argocd of kkp: selected: it meets limit.nameSelector
- falco of kkp: exclude: exclude names it
- nginx of kkp: exclude: exclude names it
- velero of kkp: limit.nameSelector: limit.nameSelector does not name it
4 available, 1 selected, 3 excluded, 0 shadowed
`},
		{
			"the first source wins before anything else decides",
			[]selection.Source{source("own", "argocd:bronze nginx"), source("kkp", "argocd:gold falco:gold nginx:gold"), source("old", "argocd:gold velero:gold")},
			selection.Criteria{Tiers: []string{"gold"}, Exclude: []string{"nginx"}}, `
- argocd of own: limit.metadataSelector.tierRefs: its tier is "bronze", and limit.metadataSelector.tierRefs requires "gold"
- argocd of kkp: shadowed: the source "own", which is listed earlier, has it as well
- argocd of old: shadowed: the source "own", which is listed earlier, has it as well
+ falco of kkp: selected: it meets limit.metadataSelector.tierRefs
- nginx of own: exclude: exclude names it
- nginx of kkp: shadowed: the source "own", which is listed earlier, has it as well
+ velero of old: selected: it meets limit.metadataSelector.tierRefs
4 available, 2 selected, 2 excluded, 3 shadowed
`},
		{"names that no catalog has are reported once and sorted", kkp, selection.Criteria{Names: []string{"z", "velero", "b"}, Exclude: []string{"z", "a", "falco"}}, `
- argocd of kkp: limit.nameSelector: limit.nameSelector does not name it
- falco of kkp: exclude: exclude names it
- nginx of kkp: limit.nameSelector: limit.nameSelector does not name it
+ velero of kkp: selected: it meets limit.nameSelector
4 available, 1 selected, 3 excluded, 0 shadowed
`},
		{"a source without a catalog has nothing", []selection.Source{{Name: "empty"}}, selection.Criteria{}, `
0 available, 0 selected, 0 excluded, 0 shadowed
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := lines(choose(t, test.sources, test.criteria)); got != test.want[1:] {
				t.Errorf("Select() =\n%swant\n%s", got, test.want[1:])
			}
		})
	}
}

func TestApplicationsAreTheSelectedOnes(t *testing.T) {
	result := choose(t, []selection.Source{source("b", "y x"), source("a", "z x w")}, selection.Criteria{Exclude: []string{"z"}})
	var got []string
	for _, decision := range result.Applications() {
		got = append(got, decision.Application.Path)
	}
	if want := []string{"a/w", "b/x", "b/y"}; !slices.Equal(got, want) {
		t.Errorf("Applications() = %v, want %v", got, want)
	}
}

func shuffle[T any](values []T) []T {
	mixed := slices.Clone(values)
	rand.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	return mixed
}

// The order of sources has a meaning; no other order has.
func TestSelectDependsOnTheOrderOfSourcesOnly(t *testing.T) {
	criteria := selection.Criteria{
		Tiers: []string{"gold", "silver", "tin"}, Names: []string{"a", "b", "c", "d", "x"}, Exclude: []string{"d", "e", "y"},
	}
	sources := []selection.Source{source("one", "a:gold b:silver c e"), source("two", "a:tin d:gold f"), source("three", "c:gold f b")}
	want := choose(t, sources, criteria)
	for range 50 {
		mixed := slices.Clone(sources)
		for i := range mixed {
			mixed[i].Catalog = &catalog.Catalog{Applications: shuffle(sources[i].Catalog.Applications)}
		}
		got := choose(t, mixed, selection.Criteria{
			Tiers: shuffle(criteria.Tiers), Names: shuffle(criteria.Names), Exclude: shuffle(criteria.Exclude),
		})
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("Select() =\n%swant\n%s", lines(got), lines(want))
		}
	}
	for range 50 {
		mixed := shuffle(sources)
		got := choose(t, mixed, criteria)
		if got.Available != want.Available || got.Shadowed != want.Shadowed {
			t.Fatalf("Select() =\n%swant the counts of\n%s", lines(got), lines(want))
		}
		for _, decision := range got.Decisions {
			first := slices.IndexFunc(mixed, func(source selection.Source) bool {
				return slices.ContainsFunc(source.Catalog.Applications, func(application *catalog.Application) bool {
					return application.Name == decision.Application.Name
				})
			})
			if shadowed := decision.Source != mixed[first].Name; shadowed != (decision.Rule == selection.RuleShadowed) {
				t.Fatalf("%s of %s is decided by %s, but the first source is %s",
					decision.Application.Name, decision.Source, decision.Rule, mixed[first].Name)
			}
		}
	}
}
