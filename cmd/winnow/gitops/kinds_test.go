// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"reflect"
	"testing"
)

// A kind is what kustomize makes of it: by a patch, and whatever its spelling in YAML.
func TestKindsAreReadAsKustomizeReadsThem(t *testing.T) {
	plain := cluster("")
	selecting := func(kind, name, application string) string {
		return "apiVersion: catalog.winnow.dev/v1alpha1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: flux-system}\nspec: {exclude: [" + application + "]}\n"
	}
	const becomes = "- op: replace\n  path: /kind\n  value: "
	patched := func(options string) string {
		return "resources: [x.yaml]\npatches:\n- target: {kind: Thing}\n  path: p.yaml\n" + options
	}
	const merge = "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: x, namespace: flux-system}\n"
	source := func(kind, tag string) string {
		return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: " + kind + "\nmetadata: {name: p-catalog, namespace: flux-system}\nspec: {ref: {tag: " + tag + "}}\n"
	}
	tests := []struct {
		name string
		base map[string]string
		head []string
	}{
		{"a patch of JSON", with(plain, "apps/x.yaml", selecting("Thing", "x", "a"), "apps/kustomization.yaml", patched(""), "apps/p.yaml", becomes+"CatalogSelection\n"),
			[]string{"apps/x.yaml", selecting("Thing", "x", "b")}},
		{"a patch that merges", with(plain, "apps/x.yaml", selecting("Thing", "x", "a"), "apps/kustomization.yaml", patched("  options: {allowKindChange: true}\n"), "apps/p.yaml", merge),
			[]string{"apps/x.yaml", selecting("Thing", "x", "b")}},
		{"a patch of the directory alone", map[string]string{"x.yaml": selecting("Thing", "x", "a"), "kustomization.yaml": patched("  options: {allowKindChange: true}\n"), "p.yaml": merge},
			[]string{"x.yaml", selecting("Thing", "x", "b")}},
		{"a patch of a kind in escapes", map[string]string{"x.yaml": selecting("Thing", "x", "a"), "kustomization.yaml": patched(""), "p.yaml": becomes + `"Catalog\x53election"` + "\n"},
			[]string{"x.yaml", selecting("Thing", "x", "b")}},
		{"a patch in the Kustomization of Flux", with(cluster("  patches: [{target: {kind: Thing}, patch: '[{\"op\": \"replace\", \"path\": \"/kind\", \"value\": \"CatalogSelection\"}]'}]\n"), "apps/x.yaml", selecting("Thing", "x", "a")),
			[]string{"apps/x.yaml", selecting("Thing", "x", "b")}},
		{"a source that a patch of the Kustomization makes", with(plain, "apps/selection.yaml", selectionOf("apps")+"spec: {sources: [{name: p-catalog}]}\n",
			"cluster/more.yaml", pathKustomization("more")+"", "more/x.yaml", source("Bucket", "v1")), []string{"more/x.yaml", source("OCIRepository", "v1")}},
		{"an escape in a directory that is built", with(plain, "apps/x.yaml", selecting(`"Catalog\u0053election"`, "x", "a")), []string{"apps/x.yaml", selecting(`"Catalog\u0053election"`, "x", "b")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			commits(t, test.base, with(nil, test.head...))
			compared := compareHead(t, Options{})
			if len(compared.Unknown) > 0 {
				t.Errorf("unknown is %q", compared.Unknown)
			}
			if reflect.DeepEqual(said(compared.Base), said(compared.Head)) {
				t.Errorf("both commits say %q", said(compared.Head))
			}
		})
	}
}
