// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
)

const definition = `apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: web}
spec:
  method: helm
  defaultValuesBlock: |
    image: {repository: quay.io/org/web}
  versions:
  - {version: 1.0.0, template: {source: {helm: {url: "https://charts.example.com/stable", chartName: web, chartVersion: 1.0.0}}}}
  - {version: 2.0.0, template: {source: {helm: {url: "https://charts.example.com/stable", chartName: web, chartVersion: 2.0.0}}}}
  - {version: 3.0.0, template: {source: {git: {remote: "https://git.example.com/x", ref: {tag: v1}}}}}
  - {version: 4.0.0, template: {source: {}}}
`

// input is a selection of one definition, with mirrors and instances, as edit changes it.
func input(t *testing.T, document string, edit func(*v1alpha1.CatalogSelectionSpec)) charts.Input {
	t.Helper()
	catalog, err := render.LoadFS(t.Context(), "catalog", fstest.MapFS{"applications/web/application.yaml": {Data: []byte(document)}}, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = "applications", "flux-system"
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
	cs.Spec.Instances = map[string]v1alpha1.Instance{
		"main": {Application: "web", Version: "2.0.0"}, "other": {Application: "web", Version: "2.0.0", Backend: "ApplicationInstallation"},
	}
	edit(&cs.Spec)
	var in charts.Input
	for _, result := range []**render.Result{&in.Original, &in.Mirrored} {
		options, err := render.FromSpec(cs)
		if err != nil {
			t.Fatal(err)
		}
		if *result, err = render.Render(t.Context(), []selection.Source{{Name: "catalog", Catalog: catalog}}, options); err != nil {
			t.Fatal(err)
		}
		cs.Spec.Mirrors = []v1alpha1.Mirror{{From: "charts.example.com", To: "oci://r.internal/charts"}, {From: "quay.io", To: "r.internal/quay"}}
	}
	in.Selected = in.Mirrored.Selection.Applications()
	return in
}

func unedited(*v1alpha1.CatalogSelectionSpec) {}

func TestFind(t *testing.T) {
	all, err := charts.Find(t.Context(), input(t, definition, unedited))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, c := range all {
		fmt.Fprintf(&got, "%s %s: %s, behind mirrors %s %s\n", c.Application, c.Version, c.Original.URL, c.Mirrored.URL, c.Missing)
		for _, use := range c.Uses {
			helm := map[bool]int{true: 3, false: 4}[use.IsHelm3]
			fmt.Fprintf(&got, "  %q %s/%s by Helm %d %q, behind mirrors %q\n", use.Instance, use.Namespace, use.ReleaseName, helm, use.Original, use.Mirrored)
		}
	}
	const want = `web 1.0.0: https://charts.example.com/stable, behind mirrors oci://r.internal/charts/stable 
  "" web/web by Helm 3 "image:\n  repository: quay.io/org/web\n", behind mirrors "image:\n  repository: r.internal/quay/org/web\n"
web 2.0.0: https://charts.example.com/stable, behind mirrors oci://r.internal/charts/stable 
  "main" web/main by Helm 4 "image:\n  repository: quay.io/org/web\n", behind mirrors "image:\n  repository: r.internal/quay/org/web\n"
  "other" web/other by Helm 3 "image:\n  repository: quay.io/org/web\n", behind mirrors "image:\n  repository: r.internal/quay/org/web\n"
web 3.0.0: , behind mirrors  it is in a Git repository, which is not read
web 4.0.0: , behind mirrors  the version names no chart
`
	if got.String() != want {
		t.Errorf("Find() =\n%s\nwant\n%s", got.String(), want)
	}
}

// Loading takes such a definition, which the API server refuses, and lint has to look into the others.
func TestAFieldOfAnotherTypeHidesNoOtherChart(t *testing.T) {
	for _, field := range []string{"chartVersion: 1.10", "chartVersion: [1.0.0]", "chartVersion: null"} {
		all, err := charts.Find(t.Context(), input(t, strings.Replace(definition, "chartVersion: 1.0.0", field, 1), unedited))
		if err != nil || len(all) != 4 || all[0].Missing != "the version names no chart with a URL, a name and a version" || all[1].Missing != "" {
			t.Errorf("with %s, Find() = %+v, %v", field, all, err)
		}
	}
}

// Flux applies what patches leave.
func TestPatchesChangeValuesAndCharts(t *testing.T) {
	patch := func(kind, path, value string) kustomize.Patch {
		return kustomize.Patch{Target: &kustomize.Selector{Kind: kind}, Patch: "- {op: replace, path: " + path + ", value: " + value + "}"}
	}
	for _, test := range []struct {
		name, definitions string
		patches           []kustomize.Patch
		want              string
	}{
		{"default values", "", []kustomize.Patch{patch("ApplicationDefinition", "/spec/defaultValuesBlock", "'tag: patched'")},
			`web "tag: patched\n"; web "image:\n  repository: r.internal/quay/org/web\n"`},
		{"a chart, whose address in the catalog stays", "", []kustomize.Patch{patch("ApplicationDefinition", "/spec/versions/0/template/source/helm/chartName", "patched")},
			`patched "image:\n  repository: r.internal/quay/org/web\n"; web "image:\n  repository: r.internal/quay/org/web\n"`},
		{"values of an instance", "", []kustomize.Patch{patch("HelmRelease", "/spec/values", "{tag: patched}")},
			`web "image:\n  repository: r.internal/quay/org/web\n"; web "image:\n  repository: r.internal/quay/org/web\ntag: patched\n"`},
		{"values of an instance without definitions", v1alpha1.DefinitionsOmit, []kustomize.Patch{patch("HelmRelease", "/spec/values", "{tag: patched}")},
			`web "image:\n  repository: r.internal/quay/org/web\n"; web "image:\n  repository: r.internal/quay/org/web\ntag: patched\n"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			all, err := charts.Find(t.Context(), input(t, definition, func(spec *v1alpha1.CatalogSelectionSpec) {
				spec.Definitions, spec.Patches = test.definitions, test.patches
			}))
			if err != nil || len(all) != 4 {
				t.Fatalf("Find() = %v, %v", all, err)
			}
			got := fmt.Sprintf("%s %q; %s %q", all[0].Mirrored.Name, all[0].Uses[0].Mirrored, all[1].Mirrored.Name, all[1].Uses[0].Mirrored)
			if got != test.want || all[0].Original != (fetching.Reference{URL: "https://charts.example.com/stable", Name: "web", Version: "1.0.0"}) {
				t.Errorf("Find() = %s, from %s\nwant %s", got, all[0].Original, test.want)
			}
		})
	}
}

func TestDefaultValuesThatCannotBeRead(t *testing.T) {
	all, err := charts.Find(t.Context(), charts.Input{Selected: input(t, strings.Replace(definition, "image: {repository: quay.io/org/web}", "{{ x }}: [", 1), func(spec *v1alpha1.CatalogSelectionSpec) { spec.Instances = nil }).Selected})
	if err != nil || len(all) != 4 || !strings.HasPrefix(all[0].Missing, "its default values cannot be read: spec.defaultValuesBlock: ") {
		t.Errorf("Find() = %+v, %v", all, err)
	}
}

// source has one chart.
type source struct{ fails error }

func (s source) Fetch(_ context.Context, r fetching.Reference) ([]byte, error) {
	return []byte(r.URL), s.fails
}

// process answers with what it is asked.
type process struct{ name string }

func (p process) Render(_ context.Context, r rendering.Request) (rendering.Answer, error) {
	answer := rendering.Answer{Name: p.name}
	for _, values := range r.Values {
		answer.Renders = append(answer.Renders, rendering.Render{Manifests: []rendering.Manifest{{Path: string(r.Chart), Text: string(values)}}})
	}
	return answer, nil
}

func TestRenderer(t *testing.T) {
	chart := charts.Chart{
		Original: fetching.Reference{URL: "from", Name: "a/web"}, Mirrored: fetching.Reference{URL: "to", Name: "a/web"},
		Uses: []charts.Use{{Original: []byte("x"), Mirrored: []byte("x")}, {Original: []byte("y"), Mirrored: []byte("z")}},
	}
	failure := errors.New("no such host")
	for _, test := range []struct {
		name     string
		renderer charts.Renderer
		want     string
	}{
		{"behind the mirrors", charts.Renderer{Source: source{}, Sandbox: process{"web"}}, "to x x, to z y"},
		{"before them", charts.Renderer{Source: source{}, Sandbox: process{"web"}, FromOriginals: true}, "from x x, from z y"},
		{"another chart", charts.Renderer{Source: source{}, Sandbox: process{"db"}}, `its archive has the chart "db"`},
		{"none", charts.Renderer{Source: source{failure}, Sandbox: process{"web"}}, "no such host"},
	} {
		t.Run(test.name, func(t *testing.T) {
			all, err := test.renderer.Render(t.Context(), []charts.Chart{chart, {Missing: "nothing"}})
			if err != nil || len(all) != 2 || all[1].Failure != nil || len(all[1].Rendered) > 0 {
				t.Fatalf("Render() = %+v, %v", all, err)
			}
			var got []string
			for _, pair := range all[0].Rendered {
				to := pair.Mirrored.Manifests[0]
				got = append(got, to.Path+" "+to.Text+" "+pair.Original.Manifests[0].Text)
			}
			if all[0].Failure != nil {
				got = append(got, all[0].Failure.Error())
			}
			if text := strings.Join(got, ", "); !strings.HasSuffix(text, test.want) {
				t.Errorf("Render() = %s, want %s", text, test.want)
			}
		})
	}
}
