// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
)

// cozystackSource is a source of "name:kind" words.
func cozystackSource(t *testing.T, name, words string) selection.Source {
	t.Helper()
	fsys := fstest.MapFS{}
	for word := range strings.FieldsSeq(words) {
		app, kind, _ := strings.Cut(word, ":")
		fsys["applications/"+app+"/application.yaml"] = &fstest.MapFile{Data: fmt.Appendf(nil,
			"apiVersion: cozystack.io/v1alpha1\nkind: ApplicationDefinition\nmetadata: {name: %s}\n"+
				"spec: {application: {kind: %s, plural: x}, release: {prefix: %s-, chartRef: {kind: ExternalArtifact, name: %s}}}\n", app, kind, app, app)}
	}
	loaded, err := render.LoadFS(t.Context(), name, fsys, render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	return selection.Source{Name: name, Catalog: loaded}
}

func TestOneKindOfTwoDefinitionsIsRefused(t *testing.T) {
	for _, test := range []struct {
		name string
		a, b string
		edit func(*v1alpha1.CatalogSelection)
		want string
	}{
		{"two kinds", "vm:VM", "disk:Disk", nil, ""},
		{"the same name is shadowed", "vm:VM", "vm:VM", nil, ""},
		{"one kind from two sources", "vm:VM disk:Disk", "machine:VM", nil,
			`machine of the source b and vm of the source a both install the kind "VM", which Cozystack serves once: add one of the two to spec.exclude`},
		{"one of them is excluded", "vm:VM", "machine:VM",
			func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = []string{"machine"} }, ""},
		{"a patch makes them one", "vm:VM", "machine:Machine",
			jsonPatch("machine", "- {op: replace, path: /spec/application/kind, value: VM}\n"),
			`machine of the source b and vm of the source a both install the kind "VM", which Cozystack serves once: add one of the two to spec.exclude`},
		{"a patch makes them two", "vm:VM", "machine:VM",
			jsonPatch("machine", "- {op: replace, path: /spec/application/kind, value: Machine}\n"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			cs := selectionOf(func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "a"}, {Name: "b"}}
				if test.edit != nil {
					test.edit(cs)
				}
			})
			opts, err := render.FromSpec(cs)
			if err != nil {
				t.Fatal(err)
			}
			_, err = render.Render(t.Context(), []selection.Source{cozystackSource(t, "a", test.a), cozystackSource(t, "b", test.b)}, opts)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var refused *render.Error
			if !errors.As(err, &refused) || refused.Reason() != v1alpha1.InvalidSpecReason || refused.Field != "spec.sources" ||
				refused.Err.Error() != test.want {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		})
	}
}

// What changes a document changes its facts, whether by a transformation or by a patch.
func TestTheFactsAreThoseOfTheArtifact(t *testing.T) {
	document := func(host string) fstest.MapFS {
		return fstest.MapFS{"applications/a/application.yaml": {Data: []byte(
			"apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: a}\nspec:\n  versions:\n" +
				"  - {version: \"1.0.0\", template: {source: {helm: {url: 'https://" + host + "/charts', chartName: a, chartVersion: \"1.0.0\"}}}}\n" +
				"  - {version: \"2.0.0\", template: {source: {helm: {url: 'https://" + host + "/charts', chartName: a, chartVersion: \"1.0.0\"}}}}\n")}}
	}
	facts := func(host string, edit func(*v1alpha1.CatalogSelection)) []string {
		result, err := renderFS(t.Context(), document(host), selectionOf(edit))
		if err != nil {
			t.Fatal(err)
		}
		checkBuilt(t, result)
		return result.Definitions[0].Origins
	}
	mirrored := facts("charts.example", func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Mirrors = []v1alpha1.Mirror{{From: "charts.example", To: "mirror.example"}}
	})
	plain, elsewhere := facts("charts.example", func(*v1alpha1.CatalogSelection) {}), facts("mirror.example", func(*v1alpha1.CatalogSelection) {})
	if !reflect.DeepEqual(mirrored, elsewhere) || reflect.DeepEqual(mirrored, plain) || len(plain) != 2 {
		t.Errorf("the origins are %v, mirrored %v, of the mirror %v", plain, mirrored, elsewhere)
	}
	latest := facts("charts.example", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Versions = []v1alpha1.VersionRule{{Latest: 1}} })
	if !reflect.DeepEqual(latest, plain[1:]) {
		t.Errorf("the origin of the latest is %v, of all %v", latest, plain)
	}
}
