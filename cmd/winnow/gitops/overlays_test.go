// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
)

func TestDirectoriesThatNoKustomizationAppliesAreBuilt(t *testing.T) {
	source := func(tag string) string {
		return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: catalog, namespace: flux-system}\nspec: {ref: {tag: " + tag + "}}\n"
	}
	patch := "resources: [../base]\npatches: [{target: {kind: OCIRepository}, patch: '- {op: replace, path: /spec/ref/tag, value: v2}'}]\n"
	base := map[string]string{
		"base/kustomization.yaml": "resources: [s.yaml, o.yaml]\n", "base/s.yaml": selectionOf("apps"), "base/o.yaml": source("v1"),
		"prod/kustomization.yaml": "resources: [../base]\n", "staging/kustomization.yaml": "resources: [../base]\n",
	}
	kept := strings.ReplaceAll(patch, "value: v2", "value: v1")
	remote := func(tag string) string {
		return strings.ReplaceAll(patch, "../base", "'https://example.com/base?ref="+tag+"'")
	}
	large := func(content string) string { return content + strings.Repeat("# comment\n", 200_000) }
	component := func(tag string) string {
		return "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{target: {kind: OCIRepository}, patch: '- {op: replace, path: /spec/ref/tag, value: " + tag + "}'}]\n"
	}
	const elsewhere = ": other directories build its files"
	tests := []struct {
		name    string
		paths   []string
		base    map[string]string
		head    []string
		want    []string // the clusters of the objects in head that differ from those in base
		unknown string   // part of a sentence; empty for none
	}{
		{"a patch in the directory", []string{"prod"}, base, []string{"prod/kustomization.yaml", patch}, []string{"prod"}, ""},
		{"a patch in a directory below", []string{"."}, base, []string{"prod/kustomization.yaml", patch}, []string{"prod"}, ""},
		{"a change of what it includes", []string{"prod"}, base, []string{"base/o.yaml", source("v2")}, []string{"prod"}, ""},
		{"a change of what two include", []string{"."}, base, []string{"base/o.yaml", source("v2")}, []string{"prod", "staging"}, ""},
		{"its kustomization file alone", []string{"prod/kustomization.yaml"}, base, []string{"prod/kustomization.yaml", patch}, []string{"prod"}, ""},
		{"a kustomization file that is new", []string{"plain"}, with(base, "plain/o.yaml", source("v1")),
			[]string{"plain/kustomization.yaml", "resources: [o.yaml]\nnamePrefix: p-\n"}, []string{"plain"}, ""},
		{"a directory that is new", []string{"new"}, base, []string{"new/kustomization.yaml", patch}, []string{"new"}, ""},
		{"a base", []string{"base"}, base, []string{"prod/kustomization.yaml", patch}, nil, "base" + elsewhere},
		{"a file of a base", []string{"base/o.yaml"}, base, []string{"prod/kustomization.yaml", patch}, nil, "base/o.yaml" + elsewhere},
		{"a plain directory that another one includes", []string{"plain"},
			with(base, "plain/o.yaml", source("v1"), "over/kustomization.yaml", "resources: [../plain/o.yaml]\n"),
			[]string{"over/kustomization.yaml", "resources: [../plain/o.yaml]\nnamePrefix: p-\n"}, nil, "plain" + elsewhere},
		{"a base, with a directory that includes it", []string{"base", "prod"}, base, []string{"prod/kustomization.yaml", patch}, []string{"prod"}, ""},
		{"a component that nothing includes", []string{"."}, with(base, "c/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [o.yaml]\n", "c/o.yaml", source("v1")),
			[]string{"README.md", "x"}, nil, ""},
		{"one that cannot be built", []string{"prod"}, base, []string{"prod/kustomization.yaml", "resources: [../nowhere]\n"}, nil, "prod: the directory cannot be built here, and differs"},
		{"one that is no YAML", []string{"prod"}, base, []string{"prod/kustomization.yaml", "resources: [\n"}, nil, "prod: the directory cannot be built here, and differs"},
		{"one that could not be built before", []string{"prod"}, with(base, "prod/kustomization.yaml", "resources: [../nowhere]\n"),
			[]string{"README.md", "x"}, nil, "prod: the directory cannot be built here, in either commit"},
		{"another one that cannot be built", []string{"."}, with(base, "prod/kustomization.yaml", "resources: [../nowhere]\n"), []string{"README.md", "x"}, nil, ""},
		{"one that another one includes, which keeps what it had", []string{"."}, with(base, "prod/kustomization.yaml", kept, "staging/kustomization.yaml", kept),
			[]string{"base/o.yaml", source("v2")}, []string{"base"}, ""},
		{"one that another one includes, of which nothing matters that differs", []string{"."}, with(base, "base/kustomization.yaml", "resources: [s.yaml, o.yaml, x.yaml]\n", "base/x.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: x}\n"),
			[]string{"base/x.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: y}\n"}, nil, ""},
		{"one with a remote base, and another patch", []string{"."}, with(base, "prod/kustomization.yaml", remote("v1")),
			[]string{"prod/kustomization.yaml", strings.ReplaceAll(remote("v1"), "value: v2", "value: v1")}, nil, "prod: the directory has resources outside of this repository"},
		{"one with another remote base", []string{"."}, with(base, "prod/kustomization.yaml", remote("v1")),
			[]string{"prod/kustomization.yaml", remote("v2")}, nil, "prod: the directory has resources outside of this repository"},
		{"one with a remote base that is the same", []string{"."}, with(base, "prod/kustomization.yaml", remote("v1")), []string{"README.md", "x"}, nil, ""},
		{"a base without files of YAML", []string{"base"}, map[string]string{
			"base/Kustomization": "resources: [s.json]\n", "base/s.json": selectionOf("apps"), "prod/Kustomization": "resources: [../base]\n"},
			[]string{"prod/Kustomization", "resources: [../base]\nnamePrefix: p-\n"}, nil, "base" + elsewhere},
		{"a component of a Kustomization", []string{"comp"}, with(cluster("  components: [../comp]\n"), "apps/o.yaml", source("v1"), "comp/kustomization.yaml", component("v1")),
			[]string{"comp/kustomization.yaml", component("v2")}, nil, "comp is not the directory of a cluster"},
		{"a large file", []string{"."}, map[string]string{"all.yaml": large(source("v1"))}, []string{"all.yaml", large(source("v2"))}, nil,
			"all.yaml is left out, and differs: it is larger"},
		{"a large file that is the same", []string{"."}, map[string]string{"all.yaml": large(source("v1"))}, []string{"README.md", "x"}, nil, ""},
		{"two that include each other", []string{"prod"}, with(base, "prod/kustomization.yaml", "resources: [../staging]\n", "staging/kustomization.yaml", "resources: [../prod]\n"),
			[]string{"README.md", "x"}, nil, "refers to itself"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			commits(t, test.base, with(nil, test.head...))
			compared := compareHead(t, Options{Paths: test.paths})
			if got := changed(compared); !slices.Equal(got, test.want) && test.unknown == "" {
				t.Errorf("objects differ in %q, want %q", got, test.want)
			}
			got := strings.Join(compared.Unknown, "\n")
			if !strings.Contains(got, test.unknown) || test.unknown == "" && got != "" {
				t.Errorf("unknown is %q, want %q", got, test.unknown)
			}
		})
	}
}

// changed returns the clusters of the objects in the newer commit that the older one does not have.
func changed(c *Comparison) []string {
	older := said(c.Base)
	var dirs []string
	for _, o := range c.Head.Objects {
		key := o.Cluster + " " + o.GetKind() + " " + o.GetName()
		if was, known := older[key]; (!known || was != documents.YAMLOf(o.Object["spec"])) && !slices.Contains(dirs, o.Cluster) {
			dirs = append(dirs, o.Cluster)
		}
	}
	slices.Sort(dirs)
	return dirs
}

func TestADirectoryOfAClusterThatCannotBeBuiltIsUnknown(t *testing.T) {
	commits(t, with(cluster(""), "cluster/kustomization.yaml", "resources: [flux.yaml, nowhere.yaml]\n"), map[string]string{"apps/selection.yaml": selectionOf("other")})
	compared := compareHead(t, Options{Paths: []string{"cluster"}})
	if got := strings.Join(compared.Unknown, "\n"); !strings.Contains(got, "cluster: the directory cannot be built here, in either commit") {
		t.Errorf("unknown is %q", got)
	}
}
