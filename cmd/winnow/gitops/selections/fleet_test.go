// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/test/farm"
)

// counter counts what a comparison does.
type counter struct{ pulled, rendered, compared int }

func (c *counter) options() Options {
	return Options{
		Paths: []string{"."},
		Open: func(ctx context.Context, address string, ref v1alpha1.SourceReference, plainHTTP bool) (selection.Source, error) {
			c.pulled++
			return farm.Open(ctx, address, ref, plainHTTP)
		},
		Render: func(ctx context.Context, cs *v1alpha1.CatalogSelection, sources []guard.Source) (*comparing.Side, error) {
			c.rendered++
			return comparing.Render(ctx, cs, sources)
		},
		Compare: func(ctx context.Context, from, to *comparing.Side) (*diff.Selection, error) {
			c.compared++
			return comparing.Compare(ctx, from, to, nil)
		},
	}
}

// fleet returns a farm in which each ring has clusters.
func fleet() farm.Farm { return farm.Farm{Clusters: 6, Registry: "registry.example.com"} }

func compareFarm(t *testing.T, c *counter, second map[string]string) *diff.Report {
	t.Helper()
	base, head := commits(t, fleet().Files(), second)
	report, err := Compare(t.Context(), base, head, c.options())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// classes returns the classes of a report in words.
func classes(report *diff.Report) []string {
	var all []string
	for _, c := range report.Classified() {
		all = append(all, fmt.Sprint(c.Effect, " ", len(c.Selections)))
	}
	return all
}

func TestEqualWorkIsDoneOnce(t *testing.T) {
	for _, test := range []struct {
		name   string
		second map[string]string
		want   counter
		// classes that the report has.
		classes []string
	}{
		{"three effects", fleet().Effects(), counter{pulled: 3, rendered: 4, compared: 3}, []string{"held 1", "loosened 1", "changed 2", "unchanged 2"}},
		{"one effect on all", fleet().Everywhere(farm.Third), counter{pulled: 2, rendered: 2, compared: 1}, []string{"held 6"}},
		{"an error on all", fleet().Everywhere("v9.9.9"), counter{pulled: 2, rendered: 1}, []string{"unknown 6"}},
		{"nothing", map[string]string{"README.md": "text"}, counter{}, []string{"unchanged 6"}},
		{
			"approvals of one ring, which change no render", farm.With(fleet().Everywhere(farm.Third), map[string]string{
				"rings/canary/selection.yaml": fleet().Files()["rings/canary/selection.yaml"] + "  safeguards: {approve: ['sha256:" + strings.Repeat("03", 32) + "']}\n",
			}), counter{pulled: 2, rendered: 2, compared: 2}, []string{"held 5", "changed 1"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c counter
			report := compareFarm(t, &c, test.second)
			if c != test.want {
				t.Errorf("%+v, want %+v", c, test.want)
			}
			if got := classes(report); !slices.Equal(got, test.classes) {
				t.Errorf("classes are %q, want %q", got, test.classes)
			}
		})
	}
}

const approved = "  safeguards: {approve: ['sha256:0404040404040404040404040404040404040404040404040404040404040404']}\n"

func TestTheFileThatTakesAnApproval(t *testing.T) {
	files := fleet().Files()
	const shared = ": base/selection.yaml is built for others as well, of which not all need the same, or which are not known here: " +
		"add a patch of the CatalogSelection for those that do"
	ring := func(name string) string { return "rings/" + name + "/selection.yaml" }
	withList := func(file string) map[string]string { return map[string]string{file: files[file] + approved} }
	for _, test := range []struct {
		name string
		// base are files that differ in both commits, and second those of the newer one.
		base, second map[string]string
		// want maps rings to the file, and what is repeated, or the advice.
		want  map[string]string
		paths []string
	}{
		{name: "all need it: the base", second: fleet().Everywhere(farm.Third), want: map[string]string{
			"canary": "base/selection.yaml", "early": "base/selection.yaml", "edge": "base/selection.yaml", "stable": "base/selection.yaml",
		}},
		{name: "one ring needs it: its patch", second: fleet().Effects(), want: map[string]string{"canary": ring("canary")}},
		{name: "what is outside of the paths may need others", second: fleet().Everywhere(farm.Third), paths: []string{"clusters/c001"}, want: map[string]string{"canary": shared}},
		{name: "a cluster that cannot be built may need others", base: map[string]string{
			"clusters/c006/catalog.yaml":      strings.ReplaceAll(files["clusters/c006/catalog.yaml"], "rings/stable", "rings/broken"),
			"rings/broken/kustomization.yaml": "resources: [../../base, missing.yaml]\n",
		}, second: fleet().Everywhere(farm.Third), want: map[string]string{"canary": ring("canary"), "early": ring("early"), "edge": ring("edge"), "stable": ring("stable")}},
		{
			name: "one ring does not: the patches of the others", second: farm.With(fleet().Everywhere(farm.Third), map[string]string{"rings/edge/source.yaml": files["rings/edge/source.yaml"]}),
			want: map[string]string{"canary": ring("canary"), "early": ring("early"), "stable": ring("stable")},
		},
		{
			name: "the base has a list that all have", base: withList("base/selection.yaml"), second: fleet().Everywhere(farm.Third),
			want: map[string]string{"canary": "base/selection.yaml", "early": "base/selection.yaml", "edge": "base/selection.yaml", "stable": "base/selection.yaml"},
		},
		{
			name: "the base has a list, and one ring needs it", base: withList("base/selection.yaml"), second: fleet().Effects(),
			want: map[string]string{"canary": ring("canary") + ", repeating 1: the list in rings/canary/selection.yaml replaces that in base/selection.yaml, so it repeats its entries; further ones there do not reach it"},
		},
		{
			name: "one ring has a list of its own", base: withList(ring("canary")), second: fleet().Everywhere(farm.Third), want: map[string]string{
				"canary": ring("canary") + ": rings/canary/selection.yaml has a list of its own, which replaces one in base/selection.yaml",
				"early":  "base/selection.yaml", "edge": "base/selection.yaml", "stable": "base/selection.yaml",
			},
		},
		{
			name:   "one cluster of a ring needs it, and no file is its own",
			second: map[string]string{"clusters/c002/catalog.yaml": strings.ReplaceAll(files["clusters/c002/catalog.yaml"], "  postBuild:\n", inlinePatch)},
			want:   map[string]string{"early": shared},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			base, head := commits(t, farm.With(files, test.base), test.second)
			options := new(counter).options()
			if test.paths != nil {
				options.Paths = test.paths
			}
			report, err := Compare(t.Context(), base, head, options)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, s := range report.Selections {
				if s.Held == nil {
					continue
				}
				text := s.Held.File
				if len(s.Held.Repeat) > 0 {
					text += fmt.Sprintf(", repeating %d", len(s.Held.Repeat))
				}
				if s.Held.Advice != "" {
					text += ": " + s.Held.Advice
				}
				for n := range fleet().Clusters {
					if fmt.Sprintf("clusters/c%03d", n+1) == s.Cluster {
						got[fleet().RingOf(n)] = text
					}
				}
			}
			if !maps.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// inlinePatch is a patch of a Kustomization that raises the tag of its catalog.
const inlinePatch = `  patches:
  - target: {kind: OCIRepository}
    patch: |
      - {op: replace, path: /spec/ref/tag, value: ` + farm.Third + `}
  postBuild:
`
