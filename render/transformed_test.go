// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/transform"
)

// What is referred to is what the mirrors found when the artifact was rendered, in its versions
// and with its values.
func TestReferencesAreThoseOfTheArtifact(t *testing.T) {
	dir := "testdata/golden/together"
	cs := readSelection(t, dir+"/selection.yaml")
	opts, err := render.FromSpec(cs)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := render.LoadFS(t.Context(), "catalog", goldenCatalog(dir), render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	source := selection.Source{Name: cs.Spec.Sources[0].Name, Catalog: loaded}
	selected, err := render.Decide(t.Context(), []selection.Source{source}, opts)
	if err != nil {
		t.Fatal(err)
	}
	// Without a digest of the source, which provenance: Object needs and references do not.
	got, err := render.Refer(t.Context(), selected.Applications(), opts)
	if err != nil {
		t.Fatal(err)
	}
	source.Digest = "sha256:0123"
	result, err := render.Render(t.Context(), []selection.Source{source}, opts)
	if err != nil {
		t.Fatal(err)
	}
	mirrored := 0
	for i, d := range result.Selection.Applications() {
		if got[i].Application != d.Application.Name {
			t.Errorf("reference %d is of %s, want %s", i, got[i].Application, d.Application.Name)
		}
		content, _ := result.Tree.Content("applicationdefinitions/" + d.Application.Name + ".yaml")
		for _, host := range got[i].Hosts {
			if host.Kind == transform.KindChart && !strings.Contains(string(content), host.To) {
				t.Errorf("%s has no %s", d.Application.Name, host.To)
			}
			if host.From != host.To {
				mirrored++
			}
		}
	}
	if mirrored == 0 {
		t.Error("no mirror did anything")
	}
	got = slices.DeleteFunc(got, func(a render.Addresses) bool { return len(a.Hosts) == 0 && a.Unreadable == "" })
	if !reflect.DeepEqual(got, result.Addresses) {
		t.Errorf("references are %+v, those of the artifact %+v", got, result.Addresses)
	}
}

// Without a selection, the catalog's own addresses are there, and nobody asked for mirrors.
func TestReferencesOfACatalogAreItsOwn(t *testing.T) {
	loaded, err := render.LoadFS(t.Context(), "catalog", goldenCatalog("testdata/golden/together"), render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range loaded.Applications {
		got, err := render.Refer(t.Context(), []selection.Decision{{Application: a, Versions: a.Versions}}, render.Options{RequireMirrors: true})
		if err != nil {
			t.Fatal(err)
		}
		charts := 0
		for _, host := range got[0].Hosts {
			if host.From != host.To || !strings.Contains(string(a.Document), host.From) {
				t.Errorf("%s refers to %+v", a.Name, host.Reference)
			}
			if host.Kind == transform.KindChart && host.Unknown == "" {
				charts++
			}
		}
		if charts != len(a.Versions) {
			t.Errorf("%s refers to %d charts, and has %d versions", a.Name, charts, len(a.Versions))
		}
	}
}

// Aliases of default values, which catalogs do not count, are written out where the values change.
func TestCostOfAliases(t *testing.T) {
	outcome := func(applications, times int, text string) error {
		fsys, names := fstest.MapFS{}, []string{}
		for i := range applications {
			names = append(names, fmt.Sprintf("x%d", i))
			fsys[fmt.Sprintf("applications/x%d/application.yaml", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: x%d}\nspec:\n  defaultValuesBlock: |\n    a: &a %s\n    b: [%s]\n",
				i, text, strings.Repeat("*a, ", times))}
		}
		loaded, err := render.LoadFS(t.Context(), "catalog", fsys, render.CatalogLocation{})
		if err != nil {
			t.Fatal(err)
		}
		pipeline, err := transform.New(transform.Config{CollectHosts: true, Values: []v1alpha1.ValuesRule{{Names: names, Overrides: &apiextensionsv1.JSON{Raw: []byte(`{"c": 1}`)}}}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = render.Render(t.Context(), []selection.Source{{Name: "s", Catalog: loaded}}, render.Options{Transform: pipeline, MaxAdded: 8 << 20})
		return err
	}
	text, hosts := strings.Repeat("x", 10_000), "["+strings.Repeat("q.io/x:1, ", 100)+"]"
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"a few":      {outcome(5, 90, text), ""},
		"long texts": {outcome(12, 90, text), string(v1alpha1.InvalidSpecReason)},
		"hosts":      {outcome(3, 150, hosts), string(v1alpha1.InvalidSpecReason)},
	} {
		if got := reasonOf(test.err); got != test.want {
			t.Errorf("%s: %v", name, test.err)
		}
	}
}
