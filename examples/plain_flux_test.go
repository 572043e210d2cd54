package examples_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
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
