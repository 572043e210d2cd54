// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/diffview"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/test/farm"
)

// compareFarm compares the two commits of a farm, and returns the report with the number of renders.
func compareFarm(t *testing.T, f farm.Farm, second map[string]string) (*diff.Report, int) {
	t.Helper()
	dir := t.TempDir()
	if err := farm.Commit(t.Context(), dir, f.Files(), second); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	base, head, err := repository.Git{}.Commits(t.Context(), "HEAD~1..HEAD")
	if err != nil {
		t.Fatal(err)
	}
	renders := 0
	report, err := selections.Compare(t.Context(), base, head, selections.Options{
		Paths: []string{"."}, Open: farm.Open,
		Render: func(ctx context.Context, cs *v1alpha1.CatalogSelection, sources []guard.Source) (*comparing.Side, error) {
			renders++
			return comparing.Render(ctx, cs, sources)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return report, renders
}

// shownAs returns a report in the formats for people.
func shownAs(report *diff.Report) map[string]string {
	views := map[string]string{}
	for name, show := range map[string]func(*bytes.Buffer){
		"text":              func(w *bytes.Buffer) { diffview.Text(w, report, diffview.View{Verbose: true}) },
		"text, --stat":      func(w *bytes.Buffer) { diffview.Text(w, report, diffview.View{Stat: true}) },
		"a comment":         func(w *bytes.Buffer) { diffview.Markdown(w, report, false) },
		"a comment, --stat": func(w *bytes.Buffer) { diffview.Markdown(w, report, true) },
	} {
		var w bytes.Buffer
		show(&w)
		views[name] = w.String()
	}
	return views
}

// 400 clusters are read in 60 lines, whatever the change does to them.
func TestCostOfAFleet(t *testing.T) {
	const most = 60
	for _, test := range []struct {
		name     string
		clusters int
		second   func(farm.Farm) map[string]string
		renders  int
		verdict  string
		has      []string
	}{
		{
			"three effects", 400, farm.Farm.Effects, 4, "HELD: 20 CatalogSelections; LOOSENED: 20; changed: 40; unchanged: 320",
			[]string{"320 clusters: nothing changes", "rings/canary/kustomization.yaml", "c010", " and 10 more"},
		},
		{
			"one effect on all", 40, func(f farm.Farm) map[string]string { return f.Everywhere(farm.Third) }, 2, "HELD: 40 CatalogSelections",
			[]string{"base/selection.yaml", " and 30 more"},
		},
		{
			"an error of all", 40, func(f farm.Farm) map[string]string { return f.Everywhere("v9.9.9") }, 1, "UNKNOWN: 40 CatalogSelections",
			[]string{"v9.9.9: not found", " and 30 more"},
		},
		{
			"a build that fails for all", 40, func(farm.Farm) map[string]string {
				return map[string]string{"base/kustomization.yaml": "resources: [missing.yaml]\n"}
			}, 0,
			"UNKNOWN: 40 CatalogSelections, and 1 other difference", []string{"missing.yaml", " and 30 more"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := farm.Farm{Clusters: test.clusters, Registry: "registry.example.com"}
			report, renders := compareFarm(t, f, test.second(f))
			if renders != test.renders {
				t.Errorf("%d renders, want %d", renders, test.renders)
			}
			for name, view := range shownAs(report) {
				lines := strings.Count(view, "\n")
				t.Logf("%s: %d lines", name, lines)
				if lines > most {
					t.Errorf("%s has %d lines:\n%s", name, lines, view)
				}
				if first, _, _ := strings.Cut(view, "\n"); strings.Trim(first, "*") != test.verdict {
					t.Errorf("%s begins with %q, want %q", name, first, test.verdict)
				}
				for _, part := range test.has {
					if !strings.Contains(strings.ReplaceAll(view, "\n  ", " "), part) {
						t.Errorf("%s does not have %q:\n%s", name, part, view)
					}
				}
			}
			if named := len(report.Classified()[0].Selections); test.clusters == 40 && named != 40 {
				t.Errorf("the first class names %d selections", named)
			}
		})
	}
}
