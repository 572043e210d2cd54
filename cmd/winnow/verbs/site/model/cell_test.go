// SPDX-License-Identifier: Apache-2.0

package model

import (
	"reflect"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/selection"
)

// What a cluster has of an application does not depend on the order of its selections.
func TestSelectionsOfAClusterAreUnited(t *testing.T) {
	out := &Cell{State: StateOut, Rule: "exclude"}
	old := &Cell{
		State: StateIn, Versions: []string{"2.13.0"}, Latest: "2.13.0", Number: "2.13.0", Rule: "selected",
		Deprecated: []string{"2.13.0: too old"},
	}
	recent := &Cell{State: StateIn, Versions: []string{"3.0.0", "3.1.5"}, Latest: "3.1.5", Number: "3.1.5", Rule: "selected"}
	held := &Cell{
		State: StateHeld, Versions: []string{"3.0.0"}, Latest: "3.0.0", Number: "3.0.0", Rule: "selected",
		Held: []string{"versions would be removed: 2.13.0"},
	}
	named := &Cell{State: StateIn, Versions: []string{"edge"}, Latest: "edge", Rule: "selected"}
	for _, test := range []struct {
		name  string
		cells [2]*Cell
		want  Cell
	}{
		{"in and out", [2]*Cell{recent, out}, *recent},
		{"versions of both", [2]*Cell{old, recent}, Cell{
			State: StateIn, Versions: []string{"2.13.0", "3.0.0", "3.1.5"}, Latest: "3.1.5", Number: "3.1.5", Rule: "selected",
			Deprecated: []string{"2.13.0: too old"},
		}},
		{"held and in", [2]*Cell{held, recent}, Cell{
			State: StateHeld, Versions: []string{"3.0.0", "3.1.5"}, Latest: "3.1.5", Number: "3.1.5", Rule: "selected", Held: held.Held,
		}},
		{"held and out", [2]*Cell{held, out}, *held},
		{"a version that is not semantic", [2]*Cell{named, recent}, Cell{
			State: StateIn, Versions: []string{"3.0.0", "3.1.5", "edge"}, Latest: "3.1.5", Number: "3.1.5", Rule: "selected",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			key := Key{"ApplicationDefinition", "argocd"}
			first, second := newContent(map[Key]*Cell{key: test.cells[0]}), newContent(map[Key]*Cell{key: test.cells[1]})
			for _, all := range [][]content{{first, second}, {second, first}} {
				if got := *merged(all).cells[key]; !reflect.DeepEqual(got, test.want) {
					t.Errorf("got\n%+v\nwant\n%+v", got, test.want)
				}
			}
		})
	}
}

// A selection may select an application of several sources.
func TestSourcesOfASelectionAreUnited(t *testing.T) {
	recent := &catalog.Application{Kind: "ApplicationDefinition", Name: "argocd", Versions: []string{"3.1.5"}}
	old := &catalog.Application{Kind: "ApplicationDefinition", Name: "argocd", Versions: []string{"2.13.0"}}
	old.Metadata.Deprecated = "use another"
	p := selections.State{Side: &comparing.Side{Result: &render.Result{}}}
	p.Side.Result.Selection.Decisions = []selection.Decision{
		{Application: recent, Selected: true, Versions: recent.Versions, Rule: "selected"},
		{Application: old, Selected: true, Versions: old.Versions, Rule: "selected", Index: 1},
	}
	want := Cell{
		State: StateIn, Versions: []string{"2.13.0", "3.1.5"}, Latest: "3.1.5", Number: "3.1.5", Rule: "selected",
		Deprecated: []string{"use another"},
	}
	if got := *contentOf(p, nil).cells[KeyOf(old)]; !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}
