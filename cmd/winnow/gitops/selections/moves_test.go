// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// placed parses the placement of a selection: FILE BEFORE -> AFTER, with names separated by commas.
func placed(words string, edit func(*placement)) placement {
	file, states, _ := strings.Cut(words, " ")
	before, after, _ := strings.Cut(states, " -> ")
	at := &State{Selection: documents.Selection{Origin: documents.Origin{File: file}}}
	p := placement{pair: &pair{to: at, out: &diff.Selection{Namespace: "fleet", Name: file}}, prune: true, applied: true}
	p.before, p.after = definitionsNamed(before), definitionsNamed(after)
	if edit != nil {
		edit(&p)
	}
	return p
}

func TestWhereApplicationsMove(t *testing.T) {
	pushed := func(p *placement) { p.unprotected = true }
	kept := func(p *placement) { p.unprotected, p.prune = true, false }
	in := func(dir string) func(*placement) { return func(p *placement) { p.to.Cluster = dir } }
	unapplied := func(p *placement) { p.to.Cluster, p.applied = "prod", false }
	renamed := func(p *placement) { p.to.Cluster, p.renamed = "prod", true }
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
			name:       "one that nothing applies claims nothing",
			placements: []placement{placed("prod/a x,y -> y", in("prod")), placed("prod/b  -> x", unapplied)},
		},
		{
			name:       "other names are other objects",
			placements: []placement{placed("prod/a x,y -> y", in("prod")), placed("prod/b  -> x", renamed), placed("prod/c z -> ", renamed), placed("prod/d  -> z", in("prod"))},
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

func TestWhatAnotherSelectionHasIsNoted(t *testing.T) {
	in := func(dir string) func(*placement) { return func(p *placement) { p.to.Cluster = dir } }
	none := func(p *placement) { p.to.Cluster, p.applied = "prod", false }
	placements := []placement{placed("prod/a x,w -> x,y", in("prod")), placed("prod/c y,x -> x", in("prod")), placed("c y -> y", nil)}
	noteOthers(placements, []placement{placed("prod/b y,w -> y,w", in("prod")), placed("dev/b y -> y", in("dev")), placed("prod/d y -> y", none)})
	want := [][]string{{
		"fleet/prod/b has y as well: while it holds that, this selection is stalled (Conflict), and publishes nothing",
		"fleet/prod/b has w as well: Flux deletes nothing that it has claimed, and if it waited for this (Conflict), it publishes all that it selects",
	}, {"fleet/prod/b has y as well: Flux deletes nothing that it has claimed, and if it waited for this (Conflict), it publishes all that it selects"}, nil}
	for i, p := range placements {
		if !slices.Equal(p.out.Notes, want[i]) {
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

// Each commit of a move in two says what the other selection has.
func TestAMoveInTwoCommits(t *testing.T) {
	ks := strings.ReplaceAll(applying(""), "name: apps", "name: others")
	base := bootstrapped(map[string]string{
		"prod/a.yaml": limited("apps", "", "x, y"), "prod/k.yaml": applying(""), "prod/b.yaml": pulling("  ref: {tag: x-y-z}\n"),
		"prod/c.yaml": limited("others", "", "z"), "prod/ck.yaml": ks,
	})
	both := limited("others", "", "z, x")
	tests := []struct {
		name       string
		base, head map[string]string
		want       string
	}{
		{"the receiver", base, map[string]string{"prod/c.yaml": both}, "fleet/apps has x as well: while it holds that, this selection is stalled (Conflict), and publishes nothing"},
		{"the giver", with(base, "prod/c.yaml", both), map[string]string{"prod/a.yaml": limited("apps", "", "y")},
			"fleet/others has x as well: Flux deletes nothing that it has claimed, and if it waited for this (Conflict), it publishes all that it selects"},
		{"the giver, beside a suspended one", with(base, "prod/c.yaml", limited("others", "  suspend: true\n", "z, x")), map[string]string{"prod/a.yaml": limited("apps", "", "y")}, ""},
		{"the giver, beside one without a Kustomization", with(base, "prod/c.yaml", both, "prod/ck.yaml", ""), map[string]string{"prod/a.yaml": limited("apps", "", "y")}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			older, newer := commits(t, test.base, test.head)
			report, err := Compare(t.Context(), older, newer, Options{Paths: []string{"."}, Open: (&opener{}).open})
			if err != nil || len(report.Selections) != 1 || len(report.Selections[0].Moves) > 0 {
				t.Fatalf("%d selections, %v", len(report.Selections), err)
			}
			if notes := strings.Join(report.Selections[0].Notes, "; "); notes != test.want {
				t.Errorf("notes are %q", notes)
			}
		})
	}
}
