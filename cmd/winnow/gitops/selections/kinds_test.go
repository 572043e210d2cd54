// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"slices"
	"strings"
	"testing"
)

// A kind counts as kustomize reads it, whatever its spelling: of files that nothing builds as well.
func TestKindsInEscapesAreCompared(t *testing.T) {
	spelt := func(kind, document string) string {
		return strings.Replace(document, "kind: CatalogSelection", "kind: "+kind, 1)
	}
	for _, kind := range []string{`"Catalog\u0053election"`, `"Catalog\x53election"`, "\"Catalog\\\n  Selection\"", "!!binary Q2F0YWxvZ1NlbGVjdGlvbg=="} {
		base, head := commits(t, map[string]string{"a.yaml": spelt(kind, selecting("")), "b.yaml": pulling("  ref: {tag: x-y}\n")},
			map[string]string{"a.yaml": spelt(kind, selecting("  exclude: [x]\n"))})
		report, err := Compare(t.Context(), base, head, Options{Paths: []string{"."}, Open: (&opener{}).open})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := said(report), []string{"a.yaml: x removed"}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", kind, got, want)
		}
	}
}

// A directory whose patches set kinds is built, though no file of it has these in plain text.
func TestKindsThatAPatchSetsAreCompared(t *testing.T) {
	thing := func(object string) string {
		return strings.NewReplacer("kind: CatalogSelection", "kind: Thing", "kind: OCIRepository", "kind: Other").Replace(object)
	}
	const kustomization = "resources: [a.yaml, b.yaml]\npatches:\n- {target: {kind: Thing}, path: p.yaml}\n- {target: {kind: Other}, path: o.yaml}\n"
	become := func(kind string) string { return "- {op: replace, path: /kind, value: " + kind + "}\n" }
	files := map[string]string{
		"prod/a.yaml": thing(selecting("")), "prod/b.yaml": thing(pulling("  ref: {tag: x-y}\n")), "prod/kustomization.yaml": kustomization,
		"prod/p.yaml": become(`"Catalog\x53election"`), "prod/o.yaml": become(`"OCI\x52epository"`),
	}
	merging := map[string]string{
		"prod/a.yaml": files["prod/a.yaml"], "prod/b.yaml": pulling("  ref: {tag: x-y}\n"),
		"prod/kustomization.yaml": "resources: [a.yaml, b.yaml]\npatches:\n- {target: {kind: Thing}, path: p.yaml, options: {allowKindChange: true}}\n",
		"prod/p.yaml":             "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: apps, namespace: fleet}\n",
	}
	for name, base := range map[string]map[string]string{"by JSON": files, "by a merge": merging} {
		base, head := commits(t, base, map[string]string{"prod/a.yaml": thing(selecting("  exclude: [x]\n"))})
		report, err := Compare(t.Context(), base, head, Options{Paths: []string{"prod"}, Open: (&opener{}).open})
		if err != nil {
			t.Fatal(err)
		}
		report.Notes = nil
		if got, want := said(report), []string{"prod/a.yaml: x removed"}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
