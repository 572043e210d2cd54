// SPDX-License-Identifier: Apache-2.0

package comparison_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/comparison"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/unread"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/selection"
)

// source has charts whose archives are their versions.
type source struct{}

func (source) Fetch(_ context.Context, r fetching.Reference) ([]byte, error) {
	if r.Version == "3.0.0" {
		return nil, fmt.Errorf("%s: not found", r)
	}
	return []byte(r.Version), nil
}

// process renders a Secret that has the version in its name, and an image. It does not render a version 4.0.0, and reads no value old in a version 2.0.0, whose
// schema requires b.
type process struct{ renders *atomic.Int32 }

func (p process) Render(_ context.Context, r rendering.Request) (rendering.Answer, error) {
	p.renders.Add(1)
	version := string(r.Chart)
	if version == "1.0.0" && r.IsUpgrade || version != "1.0.0" && version != "4.0.0" && !r.IsUpgrade {
		return rendering.Answer{}, fmt.Errorf("version %s is rendered with IsUpgrade %t", version, r.IsUpgrade)
	}
	one := rendering.Render{Manifests: []rendering.Manifest{{
		Path: "web/templates/a.yaml", Text: "{apiVersion: v1, kind: Secret, metadata: {name: key-" + version + "}}",
	}, {Path: "web/templates/b.yaml", Text: "{kind: A, image: 'quay.io/org/web" + version[:1] + ":1'}"}}}
	if version == "4.0.0" {
		one = rendering.Render{Refused: "a domain is needed"}
	}
	if version == "2.0.0" && strings.Contains(string(r.Values[0]), "old:") {
		one.Unread = []unread.Key{{Name: "old", Nearest: "new"}}
	}
	schema := map[string]string{"1.0.0": `{"properties":{"a":{"default":1}}}`, "2.0.0": `{"properties":{"a":{"default":2}},"required":["a","b"]}`}[version]
	return rendering.Answer{Name: "web", Version: version, Schema: schema, Renders: []rendering.Render{one}}, nil
}

// side is a state of a selection over a catalog with versions.
func side(t *testing.T, cs *v1alpha1.CatalogSelection, versions ...string) *comparing.Side {
	t.Helper()
	document := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: web}\nspec:\n  method: helm\n  versions:\n"
	for _, v := range versions {
		document += "  - {version: " + v + ", template: {source: {helm: {url: 'https://charts.example.com/x', chartName: web, chartVersion: " + v + "}}}}\n"
	}
	catalog, err := render.LoadFS(t.Context(), "catalog", fstest.MapFS{"applications/web/application.yaml": {Data: []byte(document)}}, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	opened := selection.Source{Name: "catalog", Catalog: catalog}
	side, err := comparing.Render(t.Context(), cs, []guard.Source{guard.SourceOf(cs, cs.Spec.Sources[0], opened)})
	if err != nil {
		t.Fatal(err)
	}
	return side
}

// with returns a selection with an instance of a version, empty for none.
func with(version, ignored string) *v1alpha1.CatalogSelection {
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = "apps", "flux-system"
	cs.Annotations = map[string]string{v1alpha1.IgnoreRisksAnnotation: ignored}
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
	cs.Spec.Mirrors = []v1alpha1.Mirror{{From: "ghcr.io", To: "r.internal/ghcr"}}
	if version != "" {
		cs.Spec.Instances = map[string]v1alpha1.Instance{"main": {Application: "web", Version: version, Values: &apiextensionsv1.JSON{Raw: []byte(`{"old": 1}`)}}}
	}
	return cs
}

func TestAdd(t *testing.T) {
	const risks = "charts/gone Secret web/key-1.0.0; charts/value old; charts/image A image"
	for _, test := range []struct {
		name     string
		from, to *comparing.Side
		want     string
		renders  int32
	}{
		{"there was no selection", nil, side(t, with("", ""), "1.0.0"), "", 0},
		{"an instance", side(t, with("1.0.0", ""), "1.0.0", "2.0.0"), side(t, with("2.0.0", ""), "1.0.0", "2.0.0"), "main 1.0.0 2.0.0: " + risks + "; a required; b required", 2},
		{"a rule that is ignored", side(t, with("1.0.0", ""), "1.0.0", "2.0.0"), side(t, with("2.0.0", "web charts/gone: known"), "1.0.0", "2.0.0"),
			"main 1.0.0 2.0.0: charts/gone Secret web/key-1.0.0 ignored, known; charts/value old; charts/image A image; a required; b required", 2},
		{"default values", side(t, with("", ""), "1.0.0"), side(t, with("", ""), "1.0.0", "2.0.0"), " 1.0.0 2.0.0: charts/gone Secret web/key-1.0.0; charts/image A image; a required; b required", 2},
		{"a chart that is not there", side(t, with("", ""), "1.0.0"), side(t, with("", ""), "1.0.0", "3.0.0"),
			" 1.0.0 3.0.0: finding: chart web 3.0.0 of https://charts.example.com/x: not found", 1},
		{"a chart that does not render with default values", side(t, with("", ""), "1.0.0"), side(t, with("", ""), "1.0.0", "4.0.0"),
			" 1.0.0 4.0.0: it does not render: a domain is needed", 2},
		{"one that does not render with the values of an instance", side(t, with("1.0.0", ""), "1.0.0", "4.0.0"), side(t, with("4.0.0", ""), "1.0.0", "4.0.0"),
			"main 1.0.0 4.0.0: finding: it does not render: a domain is needed", 2},
		{"one that did not render before", side(t, with("4.0.0", ""), "4.0.0", "5.0.0"), side(t, with("5.0.0", ""), "4.0.0", "5.0.0"),
			"main 4.0.0 5.0.0: nothing to compare with: before, it does not render: a domain is needed", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			renders := &atomic.Int32{}
			c := comparison.New(charts.Renderer{Source: source{}, Sandbox: process{renders}})
			for range 2 { // another cluster with the same
				out := &diff.Selection{}
				if err := c.Observe(t.Context(), test.from, test.to, out); err != nil {
					t.Fatal(err)
				}
				if got := shown(out.Charts); got != test.want {
					t.Errorf("Observe() = %s\nwant %s", got, test.want)
				}
			}
			if n := renders.Load(); n != test.renders {
				t.Errorf("%d renders, want %d", n, test.renders)
			}
		})
	}
}

func shown(all []diff.Chart) string {
	var lines []string
	for _, c := range all {
		var parts []string
		for _, r := range c.Risks {
			text := strings.Join(strings.Fields(r.Rule+" "+r.Object+" "+r.Field), " ")
			if r.Ignored != "" {
				text += " ignored, " + r.Ignored
			}
			parts = append(parts, text)
		}
		for _, change := range c.Schema {
			parts = append(parts, change.Path+" "+string(change.Rule))
		}
		text := c.Problem + strings.Join(parts, "; ")
		if c.IsFinding {
			text = "finding: " + text
		}
		lines = append(lines, fmt.Sprintf("%s %s %s: %s", c.Instance, c.From, c.To, text))
	}
	return strings.Join(lines, "\n")
}

func TestAnInvalidAnnotationIsAnError(t *testing.T) {
	c := comparison.New(charts.Renderer{})
	older := side(t, with("", ""), "1.0.0")
	if err := c.Observe(t.Context(), older, side(t, with("", "web charts/gone"), "1.0.0"), &diff.Selection{}); err == nil {
		t.Error("a rule is ignored without a reason")
	}
}
