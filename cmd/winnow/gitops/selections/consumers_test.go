// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"maps"
	"strings"
	"testing"
)

// applying returns a Kustomization that applies the artifact of the selection, and prunes, with more fields in its spec.
func applying(more string) string {
	if !strings.Contains(more, "sourceRef") {
		more += "  sourceRef: {kind: ExternalArtifact, name: apps}\n"
	}
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: fleet}\nspec:\n  prune: true\n" + more
}

// following returns a Kustomization that applies a directory of the repository.
func following(name, path string) string {
	return "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: fleet}\n" +
		"spec: {prune: true, path: ./" + path + ", sourceRef: {kind: GitRepository, name: fleet}}\n"
}

// bootstrapped adds to files what applies the directory prod and the Kustomizations of the directories in it.
func bootstrapped(files map[string]string, dirs ...string) map[string]string {
	all := with(files)
	all["prod/flux.yaml"] = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: fleet}\n" +
		"spec: {url: 'https://git.example.com/org/fleet'}\n" + following("fleet", "prod")
	for _, dir := range dirs {
		name, path, named := strings.Cut(dir, "=")
		if !named {
			path = name
		}
		all["prod/flux.yaml"] += following(name, path)
	}
	return all
}

func namespaceOf(name string) string {
	return "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + name + "}\n"
}

func definitionOf(name string) string {
	return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " + name + "}\n"
}

// untouched returns an object with an annotation that keeps Flux from updating it.
func untouched(object string) string {
	return strings.Replace(object, "metadata: {", "metadata: {annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}, ", 1)
}

func TestConsumersAreCompared(t *testing.T) {
	const deletes = "  deletionPolicy: Delete\n"
	const gone = "is removed, and Flux deletes its objects"
	catalog := pulling("  ref: {tag: x}\n")
	base := map[string]string{"a/s.yaml": selecting(deletes), "a/o.yaml": catalog, "a/k.yaml": applying("")}
	over := with(base, "a/kustomization.yaml", "resources: [s.yaml, o.yaml, k.yaml]\n")
	inOneFile := func(more string) string {
		return strings.Replace(selecting(more), "{name: catalog}", "{kind: GitRepository, name: fleet}", 1) + "---\n" + applying("") +
			"---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: fleet}\nspec: {url: 'https://git.example.com/org/fleet'}\n"
	}
	installing := selecting("  instances: {x: {application: x, backend: HelmRelease}}\n")
	tests := []struct {
		name       string
		base, head map[string]string
		unknown    string // part of a sentence; empty for none
	}{
		{"removed from plain files", base, map[string]string{"a/k.yaml": ""}, gone},
		{"removed, of a selection that keeps its objects", with(base, "a/s.yaml", selecting("")), map[string]string{"a/k.yaml": ""}, ""},
		{"removed, of a selection that keeps its objects, but those of instances", with(base, "a/s.yaml", installing), map[string]string{"a/k.yaml": ""}, gone},
		{"patched in plain files", base, map[string]string{"a/k.yaml": applying("  patches: [{patch: x}]\n")}, "differs in spec.patches"},
		{"in a file with a selection whose catalog is this repository", map[string]string{"a/all.yaml": inOneFile("")}, map[string]string{"a/all.yaml": inOneFile("  exclude: [x]\n")}, ""},
		{"moved with all files", base, map[string]string{"a": "", "b/s.yaml": selecting(deletes), "b/o.yaml": catalog, "b/k.yaml": applying("")}, ""},
		{"moved to another file", base, map[string]string{"a/k.yaml": "", "b/k.yaml": applying("")}, ""},
		{"removed from a directory that is built", over, map[string]string{"a/k.yaml": "", "a/kustomization.yaml": "resources: [s.yaml, o.yaml]\n"}, gone},
		{"removed from another directory that is built",
			with(base, "a/kustomization.yaml", "resources: [s.yaml, o.yaml]\n", "a/k.yaml", "", "b/k.yaml", applying(""), "b/kustomization.yaml", "resources: [k.yaml]\n"),
			map[string]string{"b/k.yaml": "", "b/kustomization.yaml": "namePrefix: p-\n"}, gone},
		{"removed from one of two directories that are built",
			with(over, "b/s.yaml", selecting(deletes), "b/o.yaml", catalog, "b/k.yaml", applying(""), "b/kustomization.yaml", "resources: [s.yaml, o.yaml, k.yaml]\n"),
			map[string]string{"b/k.yaml": "", "b/kustomization.yaml": "resources: [s.yaml, o.yaml]\n"}, "b: Kustomization fleet/apps, which applies fleet/apps, " + gone},
		{"removed from the directory of a cluster", bootstrapped(map[string]string{"prod/s.yaml": selecting(deletes), "prod/o.yaml": catalog, "prod/k.yaml": applying("")}),
			map[string]string{"prod/k.yaml": ""}, gone},
		{"that is resumed", with(base, "a/k.yaml", applying("  suspend: true\n")), map[string]string{"a/k.yaml": applying("")}, "fleet/apps, is resumed"},
		{"that is suspended", base, map[string]string{"a/k.yaml": applying("  suspend: true\n")}, ""},
		{"that Flux updates again", with(base, "a/k.yaml", untouched(applying(""))), map[string]string{"a/k.yaml": applying("")}, "fleet/apps, is resumed"},
		{"of a selection that Flux updates again", with(base, "a/s.yaml", untouched(selecting(""))), map[string]string{"a/s.yaml": selecting("")}, "CatalogSelection apps is resumed"},
		{"of a source that Flux updates again", with(base, "a/o.yaml", untouched(catalog)), map[string]string{"a/o.yaml": catalog}, "OCIRepository catalog is resumed"},
		{"that applied something else before, and prunes",
			bootstrapped(map[string]string{"prod/s.yaml": selecting(""), "prod/o.yaml": catalog, "prod/k.yaml": applying("  path: ./a\n  sourceRef: {kind: GitRepository, name: fleet}\n"), "a/n.yaml": namespaceOf("x")}),
			map[string]string{"prod/k.yaml": applying("")}, "Kustomization fleet/apps applies fleet/apps instead of GitRepository fleet/fleet, and prunes"},
		{"that is new", bootstrapped(map[string]string{"prod/s.yaml": selecting(""), "prod/o.yaml": catalog}), map[string]string{"prod/k.yaml": applying("")}, ""},
		{"that applies something else", bootstrapped(map[string]string{"prod/s.yaml": selecting(deletes), "prod/o.yaml": catalog, "prod/k.yaml": applying("")}),
			map[string]string{"prod/k.yaml": applying("  path: ./a\n  sourceRef: {kind: GitRepository, name: fleet}\n"), "a/n.yaml": namespaceOf("x")},
			"Kustomization fleet/apps applies GitRepository fleet/fleet instead of fleet/apps, and prunes"},
		{"applied by a Kustomization that is renamed", bootstrapped(base, "one=a"), bootstrapped(nil, "other=a"), "is applied by fleet/other, and was by fleet/one, which may delete it"},
		{"applied by a Kustomization that is renamed, of a selection that keeps its objects", with(bootstrapped(base, "one=a"), "a/s.yaml", selecting("")),
			bootstrapped(nil, "other=a"), ""},
		{"applied by two Kustomizations, one of which is removed", bootstrapped(base, "one=a", "other=a"), bootstrapped(nil, "one=a"), "is applied by fleet/one, and was by fleet/other"},
		{"moved from one Kustomization to another one", bootstrapped(with(base, "b/n.yaml", namespaceOf("x")), "a", "b"), map[string]string{"a/k.yaml": "", "b/k.yaml": applying("")},
			"is applied by fleet/b, and was by fleet/a"},
		{"moved to another file of a Kustomization", bootstrapped(base, "a"), map[string]string{"a/k.yaml": "", "a/c.yaml": applying("")}, ""},
		{"in a namespace that leaves", bootstrapped(with(base, "a/n.yaml", namespaceOf("fleet")), "a"), map[string]string{"a/n.yaml": ""},
			"Namespace fleet is not applied any more by fleet/a, which may delete it"},
		{"in a namespace that leaves with a Kustomization that is not built", bootstrapped(with(base, "b/n.yaml", namespaceOf("fleet"), "b/m.yaml", namespaceOf("x")), "a", "b"),
			map[string]string{"b/n.yaml": ""}, "Namespace fleet is not applied any more by fleet/b"},
		{"beside a namespace that leaves", bootstrapped(with(base, "a/n.yaml", namespaceOf("x")), "a"), map[string]string{"a/n.yaml": ""}, ""},
		{"in a namespace that stays when it leaves", bootstrapped(with(base, "a/n.yaml", strings.Replace(namespaceOf("fleet"), "{", "{annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}, ", 1)), "a"),
			map[string]string{"a/n.yaml": ""}, ""},
		{"of a definition that leaves", bootstrapped(with(base, "b/c.yaml", definitionOf("applicationdefinitions.apps.kubermatic.k8c.io"), "b/n.yaml", namespaceOf("x")), "a", "b"),
			map[string]string{"b/c.yaml": ""}, "CustomResourceDefinition applicationdefinitions.apps.kubermatic.k8c.io is not applied any more"},
		{"beside a definition that leaves", bootstrapped(with(base, "b/c.yaml", definitionOf("xs.example.com"), "b/n.yaml", namespaceOf("x")), "a", "b"),
			map[string]string{"b/c.yaml": ""}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			base, head := commits(t, test.base, test.head)
			report, err := Compare(t.Context(), base, head, Options{Paths: []string{"."}, Open: (&opener{}).open})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(report.Unknown, "\n")
			if !strings.Contains(got, test.unknown) || test.unknown == "" && got != "" {
				t.Errorf("unknown is %q, want %q", got, test.unknown)
			}
			if strings.Count(got, gone) > 1 {
				t.Errorf("unknown is %q", got)
			}
		})
	}
}

// with returns files and more, which are alternating paths and contents.
func with(files map[string]string, more ...string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, files)
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}
