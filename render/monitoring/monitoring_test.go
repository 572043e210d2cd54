// SPDX-License-Identifier: Apache-2.0

package monitoring_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/monitoring"
	"github.com/winnow-dev/winnow/render/selection"
)

// definition returns a file of a KKP definition, "NAME VERSION,... DEFAULT".
func definition(text string) (path, content string) {
	parts := append(strings.Fields(text), "")
	content = "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: " + parts[0] + "}\nspec:\n  method: helm\n"
	if parts[2] != "" {
		content += "  defaultVersion: " + parts[2] + "\n"
	}
	content += "  versions:\n"
	for v := range strings.SplitSeq(parts[1], ",") {
		content += "  - version: " + v + "\n    template: {source: {helm: {url: https://a.example.com, chartName: a, chartVersion: " + v + "}}}\n"
	}
	return "applications/" + parts[0] + "/application.yaml", content
}

func TestWhatASelectionTakesFromTheMonitoring(t *testing.T) {
	const exporter = "node-exporter 1.8.0,1.9.0"
	for _, tt := range []struct {
		name, definitions string
		spec              func(*v1alpha1.CatalogSelectionSpec)
		want              []string
	}{
		{"nothing", exporter + "; kube-state-metrics 2.0.0", func(*v1alpha1.CatalogSelectionSpec) {}, nil},
		{"a definition that is not named", exporter + "; argocd 1.0.0", limitedTo("argocd"),
			[]string{"spec.limit.nameSelector: node-exporter is left out (limit.nameSelector does not name it)"}},
		{"both, by exclude", exporter + "; kube-state-metrics 2.0.0; argocd 1.0.0", func(s *v1alpha1.CatalogSelectionSpec) {
			s.Exclude = []string{"node-exporter", "kube-state-metrics"}
		}, []string{"spec.exclude: kube-state-metrics is left out (exclude names it)", "spec.exclude: node-exporter is left out (exclude names it)"}},
		{"a name that is almost the same", "node-exporter-2 1.0.0; argocd 1.0.0", limitedTo("argocd"), nil},
		{"the highest version", exporter, narrowed("<1.9"), []string{"spec.versions: node-exporter is lowered from 1.9.0 to 1.8.0"}},
		{"the default version", "kube-state-metrics 1.0.0,2.0.0,3.0.0 2.0.0", narrowed("<2"),
			[]string{"spec.versions: kube-state-metrics is lowered from 2.0.0 to 1.0.0"}},
		{"a default version that rises", "kube-state-metrics 1.0.0,2.0.0,3.0.0 2.0.0", narrowed(">2"), nil},
		{"versions that KKP does not install", "kube-state-metrics 1.0.0,2.0.0,3.0.0 2.0.0", narrowed("2.0.0"), nil},
		{"all versions", exporter, narrowed(">5"), []string{"spec.versions: node-exporter is left out"}},
		{"what the artifact does not have", exporter + "; argocd 1.0.0", func(s *v1alpha1.CatalogSelectionSpec) {
			limitedTo("argocd")(s)
			s.Definitions = v1alpha1.DefinitionsOmit
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := fstest.MapFS{}
			for one := range strings.SplitSeq(tt.definitions, ";") {
				path, content := definition(one)
				files[path] = &fstest.MapFile{Data: []byte(content)}
			}
			loaded, err := catalog.Load(t.Context(), files)
			if err != nil {
				t.Fatal(err)
			}
			cs := &v1alpha1.CatalogSelection{}
			cs.Name, cs.Namespace = "a", "flux-system"
			cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
			tt.spec(&cs.Spec)
			options, err := render.FromSpec(cs)
			if err != nil {
				t.Fatal(err)
			}
			options.AllowEmpty = true
			result, err := render.Render(t.Context(), []selection.Source{{Name: "catalog", Catalog: loaded}}, options)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range monitoring.Losses(&cs.Spec, result.Selection) {
				got = append(got, fmt.Sprintf("%s: %s", l.Field, l.Message))
			}
			if !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func limitedTo(names ...string) func(*v1alpha1.CatalogSelectionSpec) {
	return func(s *v1alpha1.CatalogSelectionSpec) { s.Limit = &v1alpha1.Limit{NameSelector: names} }
}

func narrowed(constraint string) func(*v1alpha1.CatalogSelectionSpec) {
	return func(s *v1alpha1.CatalogSelectionSpec) { s.Versions = []v1alpha1.VersionRule{{Constraint: constraint}} }
}
