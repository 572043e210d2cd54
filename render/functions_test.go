// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/selection"
)

// renderFunctions renders files of functions, each a source.
func renderFunctions(t *testing.T, change func(*v1alpha1.CatalogSelectionSpec), files ...string) (*render.Result, error) {
	t.Helper()
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = "functions", "flux-system"
	var sources []selection.Source
	for i, text := range files {
		name := fmt.Sprint("s", i)
		loaded, err := render.LoadFS(t.Context(), name, fstest.MapFS{"c.yaml": {Data: []byte(text)}}, render.CatalogLocation{})
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, selection.Source{Name: name, Catalog: loaded})
		cs.Spec.Sources = append(cs.Spec.Sources, v1alpha1.SourceReference{Name: name})
	}
	change(&cs.Spec)
	opts, err := render.FromSpec(cs)
	if err != nil {
		t.Fatal(err)
	}
	return render.Render(t.Context(), sources, opts)
}

func functionsText(entries ...string) string {
	return "apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\nspec:\n  krmFunctions:\n" + strings.Join(entries, "")
}

func functionEntry(kind string, versions ...string) string {
	return "  - {group: e.com, kind: " + kind + ", runtime: {starlark: a}, versions: [{name: " + strings.Join(versions, "}, {name: ") + "}]}\n"
}

func TestAnArtifactOfFunctionsIsReadBack(t *testing.T) {
	all := func(*v1alpha1.CatalogSelectionSpec) {}
	result, err := renderFunctions(t, all, functionsText(functionEntry("B", "v1", "v2"), functionEntry("A", "v1")), functionsText(functionEntry("B", "v3"), functionEntry("C", "v1")))
	if err != nil {
		t.Fatal(err)
	}
	content, _ := result.Tree.Content(catalog.FunctionsFile)
	if want := functionEntry("A", "v1") + functionEntry("B", "v1", "v2") + functionEntry("C", "v1"); !strings.HasSuffix(string(content), "krmFunctions:\n"+want) {
		t.Errorf("the entries are\n%s\nwant\n%s", content, want)
	}
	if got := result.Tree.Paths(); !slices.Equal(got, []string{catalog.FunctionsFile, "functions/kustomization.yaml", render.KustomizationFile}) || !slices.Equal(result.ContentFiles(), got[:1]) {
		t.Errorf("the files are %v", got)
	}
	if built, err := kustomized.YAML(result.Tree); err != nil || len(built) > 0 {
		t.Errorf("kustomize builds %q: %v", built, err)
	}
	read := readBack(t, result)
	if len(read) != len(result.Compared()) {
		t.Fatalf("read are %v", read)
	}
	for i, d := range result.Compared() {
		if read[i].Key() != d.Key() || !slices.Equal(read[i].Versions, d.Versions) || d.IsObject() {
			t.Errorf("%v is read as %v", d, read[i])
		}
	}
	// An unrelated function changes nothing.
	same, err := renderFunctions(t, func(s *v1alpha1.CatalogSelectionSpec) { s.Exclude = []string{"d.e.com"} },
		functionsText(functionEntry("D", "v1"), functionEntry("B", "v1", "v2"), functionEntry("A", "v1")), functionsText(functionEntry("C", "v1")))
	if err != nil || same.Revision != result.Revision {
		t.Errorf("the revision is %v, not %s: %v", same, result.Revision, err)
	}
}

func TestCostOfTheFunctionsOfAnArtifact(t *testing.T) {
	large := func(kind string) string {
		return functionsText(functionEntry(kind, "v1"), "  - {group: e.com, kind: "+kind+"X, runtime: {starlark: a}, versions: [{name: v1}], description: '", strings.Repeat("a", 600<<10), "'}\n")
	}
	_, err := renderFunctions(t, func(*v1alpha1.CatalogSelectionSpec) {}, large("A"), large("B"))
	refused, ok := errors.AsType[*render.Error](err)
	if !ok || refused.Reason() != v1alpha1.InvalidSpecReason || !strings.Contains(err.Error(), "functions/catalog.yaml would have ") {
		t.Errorf("Render() = %v", err)
	}
	if _, err := renderFunctions(t, func(s *v1alpha1.CatalogSelectionSpec) { s.Exclude = []string{"bx.e.com"} }, large("A"), large("B")); err != nil {
		t.Error(err)
	}
}

// Each source is within the limits of a catalog, and what they have together may not be.
func TestCostOfTheFunctionsOfAllSources(t *testing.T) {
	large := func(kind string) string {
		return functionsText("  - {group: e.com, kind: " + kind + ", runtime: {starlark: a}, versions: [{name: v1, examples: [a" + strings.Repeat(",a", 120_000) + "]}]}\n")
	}
	_, err := renderFunctions(t, func(*v1alpha1.CatalogSelectionSpec) {}, large("A"), large("B"))
	refused, ok := errors.AsType[*render.Error](err)
	if !ok || refused.Reason() != v1alpha1.InvalidSpecReason || !strings.Contains(err.Error(), "nodes: select fewer functions") {
		t.Errorf("Render() = %v", err)
	}
}
