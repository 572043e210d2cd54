// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"context"
	"fmt"
	"slices"
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
		Observe: func(context.Context, *comparing.Side, *comparing.Side, *diff.Selection) error {
			c.compared++
			return nil
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
				"rings/canary/selection.yaml": fleet().Files()["rings/canary/selection.yaml"] + "  safeguards: {approve: [app-01, app-02/1.0.0]}\n",
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
