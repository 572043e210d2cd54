// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"strings"
	"testing"
)

// Each head changes what another branch has in the older commit, or what an object makes in the cluster.
func TestOpenEndsOfACluster(t *testing.T) {
	const branch = "  sourceRef: {kind: GitRepository, name: staging}\n"
	on := func(ref string) map[string]string {
		return with(nil, attackFile, attackRoot("  ref: {branch: main}\n", "")+attackSource("staging", ", ref: {"+ref+"}")+attackK("s", "./s", branch), "s/s.yaml", strings.ReplaceAll(attackSelection("a"), "name: x", "name: yy"), attackS, attackSelection("a"))
	}
	changed := []string{"s/s.yaml", strings.ReplaceAll(attackSelection("b"), "name: x", "name: yy")}
	makes := func(annotations, value string) string {
		return "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: r, namespace: flux-system" + annotations + "}\n" +
			"spec: {inputs: [{x: " + value + "}], resources: [{apiVersion: catalog.winnow.dev/v1alpha1, kind: CatalogSelection, metadata: {name: '<< inputs.x >>'}}]}\n"
	}
	elsewhere := func(annotations, path string) string {
		return attackRoot("  ref: {branch: main}\n", "") + "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: other, namespace: flux-system}\nspec: {url: 'https://example.com/other'}\n" +
			strings.Replace(attackK("o", path, "  sourceRef: {kind: GitRepository, name: other}\n"), "namespace: flux-system", "namespace: flux-system"+annotations, 1)
	}
	const declaration = ", annotations: {catalog.winnow.dev/no-catalogs: it makes alerts}"
	const release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: flux-system" + declaration + "}\n" +
		"spec: {chart: {spec: {chart: ./c, sourceRef: {kind: GitRepository, name: flux-system}}}}\n"
	provider := func(annotations, value string) string {
		return "---\napiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSetInputProvider\nmetadata: {name: p, namespace: flux-system" + annotations + "}\n" +
			"spec: {type: Static, defaultValues: {x: " + value + "}}\n"
	}
	const file = "clusters/p/rs.yaml"
	plain := map[string]string{attackFile: attackRoot("  ref: {branch: main}\n", ""), attackS: attackSelection("a")}
	for _, test := range []struct {
		name string
		base map[string]string
		head []string
		// unknown and note are parts of sentences; without unknown nothing is.
		unknown, note string
	}{
		{"another branch than the cluster follows", on("branch: staging"), changed, "", "follows the branch staging, and not main as the cluster does"},
		{"the branch of the cluster by its whole name", on("name: refs/heads/main"), changed, "", "flux-system/staging is taken for this repository"},
		{"a branch by its whole name beside a tag, which counts less", on("tag: v1, name: refs/heads/main"), changed, "", "flux-system/staging is taken for this repository"},
		{"a commit of a branch, which counts more", on("commit: a123456789012345678901234567890123456789, name: refs/heads/main"), changed, "", "stays at ref.commit"},
		{"the default branch", on(""), changed, "", "follows the branch master"},
		{"a ResourceSet", with(plain, file, makes("", "a")), []string{file, makes("", "b")}, "the ResourceSet flux-system/r differs", ""},
		{"one that is declared to make no catalogs", with(plain, file, makes(declaration, "a")), []string{file, makes(declaration, "b")}, "", "by its annotation catalog.winnow.dev/no-catalogs: it makes alerts"},
		{"one that the newer commit declares", with(plain, file, makes("", "a")), []string{file, makes(declaration, "a")}, "the ResourceSet flux-system/r differs", ""},
		{"one without a reason", with(plain, file, makes(", annotations: {catalog.winnow.dev/no-catalogs: ' '}", "a")), []string{file, makes(declaration, "b")}, "the ResourceSet flux-system/r differs", ""},
		{"declared inputs of one that is not declared", with(plain, file, makes("", "a")+provider(declaration, "a")), []string{file, makes("", "a") + provider(declaration, "b")},
			"the ResourceSetInputProvider flux-system/p differs", ""},
		{"inputs of one that is declared", with(plain, file, makes(declaration, "a")+provider("", "a")), []string{file, makes(declaration, "a") + provider("", "b")},
			"", "by its annotation catalog.winnow.dev/no-catalogs: it makes alerts"},
		{"a declared HelmRelease whose chart begins to make a selection", with(plain, file, release, "c/Chart.yaml", "name: c\n", "c/templates/a.yaml", "kind: ConfigMap\n"),
			[]string{"c/templates/a.yaml", "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\n"}, "the HelmRelease flux-system/r, with its chart and values, differs", ""},
		{"a declared HelmRelease whose chart has made one before", with(plain, file, release, "c/Chart.yaml", "name: c\n", "c/templates/a.yaml", "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\n"),
			[]string{"c/templates/a.yaml", "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {}\n"}, "", "by its annotation catalog.winnow.dev/no-catalogs: it makes alerts"},
		{"a Kustomization of another repository", with(plain, attackFile, elsewhere("", "./a")), []string{attackFile, elsewhere("", "./b")}, "Kustomization flux-system/o applies files that are not read here, and differs", ""},
		{"one that is declared", with(plain, attackFile, elsewhere(declaration, "./a")), []string{attackFile, elsewhere(declaration, "./b")}, "", "by its annotation catalog.winnow.dev/no-catalogs: it makes alerts"},
		{"one that the newer commit declares, and that is the same", with(plain, attackFile, elsewhere("", "./a")), []string{attackFile, elsewhere(declaration, "./a")},
			"Kustomization flux-system/o gets the annotation catalog.winnow.dev/no-catalogs, which counts from the next change on", ""},
		{"a declared one that was of this repository", with(plain, attackFile, strings.Replace(elsewhere(declaration, "./a"), "name: other}\n", "name: flux-system}\n", 2), "a/s.yaml", strings.ReplaceAll(attackSelection("a"), "name: x", "name: yy")),
			[]string{attackFile, elsewhere(declaration, "./a")}, "Kustomization flux-system/o applies files that are not read here, and differs", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			commits(t, test.base, with(nil, test.head...))
			compared := compareHead(t, Options{Paths: []string{"clusters/p"}})
			unknown, notes := strings.Join(compared.Unknown, "\n"), strings.Join(compared.Notes, "\n")
			if !strings.Contains(unknown, test.unknown) || test.unknown == "" && unknown != "" {
				t.Errorf("unknown is %q, want %q", unknown, test.unknown)
			}
			if !strings.Contains(notes, test.note) {
				t.Errorf("the notes are %q, want %q", notes, test.note)
			}
		})
	}
}
