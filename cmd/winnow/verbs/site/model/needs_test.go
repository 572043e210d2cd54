// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/selection"
)

// running returns a selection of a cluster that refers to a catalog.
func running(cluster, catalog string) selections.State {
	p := selections.State{References: []documents.Reference{{Catalog: catalog}}}
	p.Cluster = cluster
	return p
}

// Clusters that differ are a need, also where nothing tells which of them are behind.
func TestRevisionsWithoutANewest(t *testing.T) {
	const repository = "oci://registry.example.com/catalog"
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const different = "different: " + repository + " runs [{:blue [clusters/one clusters/two]} {:green [clusters/three]}]\n"
	for _, test := range []struct {
		name  string
		since map[string]time.Time
		want  string
	}{
		{"no time is known", nil, different},
		{"one time is known", map[string]time.Time{repository + ":blue": at}, different},
		{"both are known", map[string]time.Time{repository + ":blue": at, repository + ":green": at.Add(time.Hour)},
			"behind: clusters/one clusters/two runs :blue, not :green of " + repository + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			fleet, _ := NewFleet(Survey{
				Survey: &selections.Survey{Report: diff.New(), Published: []selections.State{
					running("clusters/one", repository+":blue"), running("clusters/three", repository+":green"),
					running("clusters/two", repository+":blue"),
				}},
				Since: test.since,
			})
			if got := matrix(fleet, nil); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			if got := fleet.Count(); got != 1 {
				t.Errorf("%d needs are counted", got)
			}
		})
	}
}

// An application of two catalogs has a newest version, a page and deprecations in each of them.
func TestACellIsComparedWithItsOwnCatalog(t *testing.T) {
	key := Key{"ApplicationDefinition", "argocd"}
	shown := map[*catalog.Catalog]*Catalog{}
	var published []selections.State
	for _, one := range []struct{ name, latest string }{{"a", "2.13.0"}, {"b", "2.14.0"}} {
		application := &catalog.Application{Kind: key.Kind, Name: key.Name}
		application.Metadata.Deprecated = "use another"
		loaded, c := &catalog.Catalog{}, &Catalog{Name: one.name, Address: "oci://registry.example.com/" + one.name}
		c.byKey = map[Key]*Application{key: {Catalog: c, Name: key.Name, Kind: key.Kind, Latest: one.latest, LatestNumber: one.latest}}
		shown[loaded] = c
		p := selections.State{Side: &comparing.Side{Result: &render.Result{}, Sources: []guard.Source{{Catalog: loaded}}}}
		p.CatalogSelection, p.Cluster = &v1alpha1.CatalogSelection{}, "clusters/"+one.name
		decision := selection.Decision{Application: application, Selected: true, Versions: []string{"2.13.0"}}
		p.Side.Result.Selection.Decisions = []selection.Decision{decision}
		published = append(published, p)
	}
	fleet, _ := NewFleet(Survey{Survey: &selections.Survey{Report: diff.New(), Published: published}, Catalogs: shown})
	a, b := shown[published[0].Side.Sources[0].Catalog].Find(key), shown[published[1].Side.Sources[0].Catalog].Find(key)
	const want = `column clusters/a of , 0 held
column clusters/b of , 0 held
argocd in 2: [in 2.13.0] [in 2.13.0]
upgrade of argocd to 2.14.0 from [{2.13.0 [clusters/b]}]
`
	if got := matrix(fleet, nil, "argocd"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := fleet.Rows[0].Applications; !slices.Equal(got, []*Application{a, b}) {
		t.Errorf("the row has the applications %v", got)
	}
	if len(fleet.Upgrades) != 1 || fleet.Upgrades[0].Application != b {
		t.Errorf("the upgrades are %v", fleet.Upgrades)
	}
	var deprecated []*Application
	for _, d := range fleet.Deprecated {
		deprecated = append(deprecated, d.Application)
	}
	if !slices.Equal(deprecated, []*Application{a, b}) {
		t.Errorf("deprecated are %v", deprecated)
	}
}

// A stage does not tell its catalog: with one catalog it is that, with two it is not known.
func TestAStageIsComparedWithTheOnlyCatalog(t *testing.T) {
	key := Key{"ApplicationDefinition", "argocd"}
	stage := &Cell{State: StateIn, Latest: "2.13.0", Number: "2.13.0"}
	var applications []*Application
	for range 2 {
		applications = append(applications, &Application{Name: key.Name, Kind: key.Kind, LatestNumber: "3.0.0"})
		row := &Row{Key: key, Cells: []*Cell{stage}, Applications: applications}
		if got := len(available([]*Column{{Stage: "staging"}}, []*Row{row})); got != 2-len(applications) {
			t.Errorf("of %d catalogs, there are %d upgrades", len(applications), got)
		}
	}
}
