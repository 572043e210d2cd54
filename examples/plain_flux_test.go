// SPDX-License-Identifier: Apache-2.0

package examples_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
)

// The charts beside the catalog of plain-flux are those that its versions name.
func TestPlainFluxHasTheChartsOfItsCatalog(t *testing.T) {
	var named, present []string
	for _, file := range glob(t, "plain-flux/catalog/applications/*/application.yaml") {
		var definition struct {
			Spec struct {
				Versions []struct {
					Template struct {
						Source struct {
							Helm struct{ ChartName, ChartVersion string }
						}
					}
				}
			}
		}
		read(t, file, &definition)
		for _, version := range definition.Spec.Versions {
			helm := version.Template.Source.Helm
			named = append(named, filepath.Join(helm.ChartName, helm.ChartVersion))
		}
	}
	for _, file := range glob(t, "plain-flux/charts/*/*/Chart.yaml") {
		var chart struct{ Name, Version string }
		read(t, file, &chart)
		path := filepath.Join(chart.Name, chart.Version)
		if want := filepath.Join("plain-flux/charts", path, "Chart.yaml"); file != want {
			t.Errorf("%s is %s, want %s", path, file, want)
		}
		present = append(present, path)
	}
	slices.Sort(named)
	slices.Sort(present)
	if !slices.Equal(named, present) {
		t.Errorf("the catalog names %v, and there are %v", named, present)
	}
}

// Every cluster of plain-flux installs all instances of the base, with its own versions.
func TestPlainFluxInstallsWhatItsOverlaysName(t *testing.T) {
	for dir, want := range map[string]map[string]string{
		"clusters/staging":    {"alerts": "1.1.0", "dashboards": "1.4.2", "logs": "0.9.0", "trust-bundle": "1.1.0"},
		"clusters/production": {"alerts": "1.0.0", "dashboards": "1.4.0", "logs": "0.9.0", "trust-bundle": "1.1.0"},
		"hub":                 {"alerts": "1.0.0", "dashboards": "1.4.2", "logs": "0.9.0", "trust-bundle": "1.1.0"},
	} {
		t.Run(dir, func(t *testing.T) {
			cs := overlaid(t, filepath.Join("plain-flux", dir))
			opts, err := render.FromSpec(cs)
			if err != nil {
				t.Fatal(err)
			}
			loaded, err := render.LoadFS(t.Context(), "plain-catalog", os.DirFS("plain-flux/catalog"), render.CatalogLocation{})
			if err != nil {
				t.Fatal(err)
			}
			result, err := render.Render(t.Context(), []selection.Source{{Name: "plain-catalog", Catalog: loaded}}, opts)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, in := range result.Instances {
				got[in.Name] = in.Version
			}
			if !maps.Equal(got, want) || len(result.Unmatched) > 0 {
				t.Errorf("it installs %v, want %v; unmatched is %v", got, want, result.Unmatched)
			}
		})
	}
}

// overlaid returns the selection in a directory as kustomize builds it.
func overlaid(t *testing.T, dir string) *v1alpha1.CatalogSelection {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range built.Resources() {
		if object.GetKind() != v1alpha1.CatalogSelectionKind {
			continue
		}
		cs := &v1alpha1.CatalogSelection{}
		content, err := object.AsYAML()
		if err == nil {
			err = yaml.UnmarshalStrict(content, cs)
		}
		if err != nil {
			t.Fatal(err)
		}
		return cs
	}
	t.Fatalf("%s has no CatalogSelection", dir)
	return nil
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no file matches %s: %v", pattern, err)
	}
	return files
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(content, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
