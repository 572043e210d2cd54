// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// placed parses the placement of a selection: FILE BEFORE -> AFTER, with names separated by commas.
func placed(words string, edit func(*placement)) placement {
	file, states, _ := strings.Cut(words, " ")
	before, after, _ := strings.Cut(states, " -> ")
	at := &State{Selection: documents.Selection{Origin: documents.Origin{File: file}}}
	p := placement{pair: &pair{to: at}, out: &diff.Selection{Namespace: "fleet", Name: file}, prune: true}
	p.before, p.after = definitionsNamed(before), definitionsNamed(after)
	if edit != nil {
		edit(&p)
	}
	return p
}

func TestWhereApplicationsMove(t *testing.T) {
	pushed := func(p *placement) { p.pushed = true }
	kept := func(p *placement) { p.pushed, p.prune = true, false }
	in := func(dir string) func(*placement) { return func(p *placement) { p.to.Cluster = dir } }
	suspended := func(p *placement) { p.to.Cluster, p.suspended = "prod", true }
	apps := func(p *placement) { p.out.Name = "apps" }
	tests := []struct {
		name       string
		placements []placement
		want       []string
	}{
		{
			name:       "from one to the other",
			placements: []placement{placed("a x,y -> y", nil), placed("b z -> x,z", nil)},
			want:       []string{"a: x to fleet/b"},
		},
		{
			name:       "a swap",
			placements: []placement{placed("a x -> y", nil), placed("b y -> x", nil)},
			want:       []string{"a: x to fleet/b", "b: y to fleet/a"},
		},
		{
			name:       "what the other one has already, or nobody gets, does not move",
			placements: []placement{placed("a x,y -> ", nil), placed("b x -> x", nil)},
		},
		{
			name:       "to one of the cluster that claims it already",
			placements: []placement{placed("prod/a x,y -> y", in("prod")), placed("prod/b x -> x", in("prod")), placed("dev/b x -> x", in("dev"))},
			want:       []string{"prod/a: x to fleet/prod/b"},
		},
		{
			name:       "a suspended one claims nothing",
			placements: []placement{placed("prod/a x,y -> y", in("prod")), placed("prod/b  -> x", suspended)},
		},
		{
			name: "to the nearest one of each cluster",
			placements: []placement{
				placed("dev/a x -> ", nil), placed("dev/b  -> x", nil), placed("prod/a x -> ", nil), placed("prod/b  -> x", nil),
			},
			want: []string{"dev/a: x to fleet/dev/b", "prod/a: x to fleet/prod/b"},
		},
		{
			name:       "directories that are built may be of two clusters",
			placements: []placement{placed("prod/a x -> ", in("prod")), placed("staging/b  -> x", in("staging"))},
		},
		{
			name:       "two selections of a name are of two clusters",
			placements: []placement{placed("prod/a x -> ", apps), placed("staging/a  -> x", apps)},
		},
		{
			name:       "to several that are equally near",
			placements: []placement{placed("a x -> ", nil), placed("b  -> x", nil), placed("c  -> x", nil)},
			want:       []string{"a: x to fleet/b", "a: x to fleet/c"},
		},
		{
			name:       "the giver is pushed",
			placements: []placement{placed("a x -> ", pushed), placed("b  -> x", nil)},
			want:       []string{"a: x to fleet/b, unprotected"},
		},
		{
			name:       "the receiver is pushed",
			placements: []placement{placed("a x -> ", nil), placed("b  -> x", pushed)},
			want:       []string{"a: x to fleet/b, unprotected"},
		},
		{
			name:       "the giver is pushed, and prunes nothing",
			placements: []placement{placed("a x -> ", kept), placed("b  -> x", pushed)},
			want:       []string{"a: x to fleet/b"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			findMoves(test.placements)
			var got []string
			for _, p := range test.placements {
				for _, m := range p.out.Moves {
					text := fmt.Sprintf("%s: %s to %s", p.to.File, m.Application, m.To)
					if m.Unprotected {
						text += ", unprotected"
					}
					got = append(got, text)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestWhatAnotherSelectionKeepsIsNoted(t *testing.T) {
	in := func(dir string) func(*placement) { return func(p *placement) { p.to.Cluster = dir } }
	placements := []placement{
		placed("prod/a x,z -> x,y,z", in("prod")), placed("prod/b y,v -> y,v", in("prod")), placed("dev/b y -> y", in("dev")), placed("prod/c y,x -> x", in("prod")), placed("c y -> y", nil),
	}
	noteConflicts(placements)
	for i, p := range placements {
		var want []string
		if i == 0 {
			want = []string{"fleet/prod/b keeps y: this selection is stalled (Conflict), and publishes nothing, while it does"}
		}
		if !slices.Equal(p.out.Notes, want) {
			t.Errorf("%s has the notes %q", p.any().File, p.out.Notes)
		}
	}
}

func TestVersionsThatAMoveLosesAreAdopted(t *testing.T) {
	having := func(versions ...string) map[safeguard.Key]safeguard.Definition {
		all := definitionsNamed("x")
		for key, d := range all {
			d.Versions = versions
			all[key] = d
		}
		return all
	}
	giver, receiver := placed("a  -> ", nil), placed("b  -> ", nil)
	giver.before, receiver.after = having("1.0.0", "2.0.0"), having("2.0.0")
	placements := []placement{giver, receiver}
	findMoves(placements)
	if got := placements[1].adopted; len(got) != 1 || !slices.Equal(got[0].Versions, []string{"1.0.0"}) {
		t.Errorf("adopted are %v", got)
	}
}

func definitionsNamed(list string) map[safeguard.Key]safeguard.Definition {
	all := map[safeguard.Key]safeguard.Definition{}
	for name := range strings.SplitSeq(list, ",") {
		if name != "" {
			d := safeguard.Definition{APIVersion: "apps.kubermatic.k8c.io/v1", Kind: "ApplicationDefinition", Name: name}
			all[d.Key()] = d
		}
	}
	return all
}

// limited returns a selection with a name that has some applications.
func limited(name, fields, applications string) string {
	return strings.ReplaceAll(selecting(fields+"  limit: {nameSelector: ["+applications+"]}\n"), "name: apps", "name: "+name)
}

func TestTheFirstCommitOfAMove(t *testing.T) {
	base, head := commits(t, bootstrapped(map[string]string{
		"prod/a.yaml": limited("apps", "", "x, y"), "prod/b.yaml": pulling("  ref: {tag: x-y-z}\n"), "prod/c.yaml": limited("others", "", "z"),
	}), map[string]string{"prod/c.yaml": limited("others", "", "z, x")})
	report, err := Compare(t.Context(), base, head, Options{Paths: []string{"."}, Open: (&opener{}).open, Compare: comparing.Compare})
	if err != nil || len(report.Selections) != 1 {
		t.Fatalf("%d selections, %v", len(report.Selections), err)
	}
	const want = "fleet/apps keeps x: this selection is stalled (Conflict), and publishes nothing, while it does"
	if notes := report.Selections[0].Notes; !slices.Contains(notes, want) {
		t.Errorf("notes are %q", notes)
	}
}

// The receiver was changed first: it has claimed the application since, and is the same in both commits.
func TestTheSecondCommitOfAMove(t *testing.T) {
	tests := []struct{ name, receiver, want string }{
		{"a receiver that claims it", limited("others", "", "z, x"), "fleet/others"},
		{"a suspended one", limited("others", "  suspend: true\n", "z, x"), ""},
		{"one that lacks it", limited("others", "", "z"), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			base, head := commits(t, bootstrapped(map[string]string{
				"prod/a.yaml": limited("apps", "", "x, y"), "prod/b.yaml": pulling("  ref: {tag: x-y-z}\n"), "prod/c.yaml": test.receiver,
			}), map[string]string{"prod/a.yaml": limited("apps", "", "y")})
			report, err := Compare(t.Context(), base, head, Options{Paths: []string{"."}, Open: (&opener{}).open, Compare: comparing.Compare})
			if err != nil || len(report.Selections) != 1 || len(report.Same) != 1 {
				t.Fatalf("%d selections, %d same, %v, %v", len(report.Selections), len(report.Same), report.Unknown, err)
			}
			got := ""
			for _, m := range report.Selections[0].Moves {
				got += m.To
			}
			if deleted := report.Selections[0].Applications[0].Deleted; got != test.want || (deleted == nil) != (test.want != "") {
				t.Errorf("moves to %q, and is deleted: %v", got, deleted)
			}
		})
	}
}
