// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// A merge patch replaces spec.versions, as kustomize knows no keys of its entries.
func TestPatchesThatTakeVersions(t *testing.T) {
	const behind = ": a merge patch replaces a list as a whole, and KKP uninstalls what uses a removed version; repeat the whole list, or change an entry with a JSON 6902 patch"
	const merge = "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: web}\nspec: "
	const begin = "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: "
	source := fstest.MapFS{
		"applications/web/application.yaml": {Data: []byte(begin + "web}\nspec: {defaultVersion: 1.0.0, versions: [{version: 1.0.0, template: {}}, {version: 1.1.0}, {version: 2.0.0}]}\n")},
		"applications/db/application.yaml":  {Data: []byte(begin + "db}\nspec: {defaultVersion: 1.0.0, versions: [{version: 1.0.0, template: {}}]}\n")},
	}
	for _, test := range []struct {
		name    string
		patches []kustomize.Patch
		want    []string
	}{
		{"another version", []kustomize.Patch{{Patch: merge + "{versions: [{version: 2.1.0}]}"}}, []string{"web loses versions by spec.patches[0]: 1.0.0, 1.1.0, 2.0.0, its spec.defaultVersion among them" + behind}},
		{"credentials of one, beside a patch of values", []kustomize.Patch{{Patch: merge + "{description: x}", Target: &kustomize.Selector{Name: "db"}},
			{Patch: merge + "{versions: [{version: 1.0.0, template: {}}]}"}}, []string{"web loses versions by spec.patches[1]: 1.1.0, 2.0.0" + behind}},
		{"an entry of all", []kustomize.Patch{{Patch: "- {op: remove, path: /spec/versions/0}\n", Target: &kustomize.Selector{Kind: "ApplicationDefinition"}}},
			[]string{"db loses versions by spec.patches[0]: 1.0.0, its spec.defaultVersion among them" + behind, "web loses versions by spec.patches[0]: 1.0.0, its spec.defaultVersion among them" + behind}},
		{"an entry that changes", []kustomize.Patch{{Patch: "- {op: add, path: /spec/versions/0/template/templateCredentials, value: {}}\n", Target: &kustomize.Selector{Name: "web"}}}, nil},
		{"one more", []kustomize.Patch{{Patch: "- {op: add, path: /spec/versions/-, value: {version: 3.0.0}}\n", Target: &kustomize.Selector{Name: "web"}}}, nil},
		{"none", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := renderFS(t.Context(), source, selectionOf(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Patches = test.patches }))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range result.Patched {
				got = append(got, p.String())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
