// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// sync returns the source and the Kustomization that flux bootstrap makes, with more in their specs.
func sync(name, dir, source, kustomization string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\n" +
		"spec:\n  url: https://git.example.com/org/fleet\n" + source +
		"---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\n" +
		"spec:\n  path: " + dir + "\n  prune: true\n  sourceRef: {kind: GitRepository, name: flux-system}\n" + kustomization
}

// The directory of a cluster is built from the files that its source leaves, as any other directory is.
func TestTheRootOfAClusterIsBuiltAsItsSourceHasIt(t *testing.T) {
	const file, selection, hidden = "clusters/p/flux-system/gotk-sync.yaml", "clusters/p/s.yaml", "clusters/p/off/s.yaml"
	root := func(source string) map[string]string {
		return map[string]string{file: sync("flux-system", "./clusters/p", source, ""), selection: selectionOf("x")}
	}
	ignoring := func(patterns ...string) string {
		return "  ignore: |\n    " + strings.Join(patterns, "\n    ") + "\n"
	}
	synced := func(source string) string { return root(source)[file] }
	instance := func(patch string) map[string]string {
		return map[string]string{"flux/instance.yaml": "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec:\n" +
			"  sync: {kind: GitRepository, url: 'https://git.example.com/org/fleet', ref: refs/heads/main, path: clusters/p}\n" +
			"  kustomize:\n    patches:\n    - target: {kind: GitRepository}\n      patch: '" + patch + "'\n", selection: selectionOf("x")}
	}
	tests := []struct {
		name       string
		base, head map[string]string
		// removed are files of the base that the head lacks.
		removed []string
		// want are the selections of the newer commit, and unknown is part of a sentence; empty for none.
		want    []string
		unknown string
	}{
		{"ignores a file", root(""), map[string]string{file: synced(ignoring("/clusters/p/s.yaml"))}, nil, nil, ""},
		{"gets a file in a path that it ignores", root(ignoring("/clusters/p/off/")), map[string]string{hidden: selectionOf("x")}, []string{selection}, nil, ""},
		{"ignores all of it", root(""), map[string]string{file: synced(ignoring("/clusters/p/s.yaml", "/clusters/p/flux-system"))}, nil, nil,
			"clusters/p: the Kustomization flux-system/flux-system, which applies this directory, is renamed or removed"},
		{"ignores its own sync", root(""), map[string]string{file: synced(ignoring("/clusters/p/flux-system"))}, nil, []string{"x"},
			"clusters/p: the Kustomization flux-system/flux-system, which applies this directory, is renamed or removed"},
		{"checks out other directories", root(""), map[string]string{file: synced("  sparseCheckout: [other]\n"), "other/a.txt": "a"}, nil, []string{"x"},
			"clusters/p: the directory cannot be built here, and differs: its path clusters/p is not in"},
		{"checks out a directory that is not there", root(""), map[string]string{file: synced("  sparseCheckout: [clusters, other]\n")}, nil, []string{"x"},
			"has other in spec.sparseCheckout, which the commit lacks"},
		{"checks out by the beginning of names", with(root("  sparseCheckout: [clusters]\n"), "clusters-more/a.txt", "a"),
			map[string]string{file: synced("  sparseCheckout: [./clust]\n"), "clust/a.txt": "a"}, nil, []string{"x"}, ""},
		{"has patterns for the first time, which switch the default ones off", with(root(""), "clusters/p/.github/y.yaml", selectionOf("y")),
			map[string]string{".sourceignore": "/none\n"}, nil, []string{"x", "y"}, ""},
		{"has a comment only in .sourceignore", with(root(""), "clusters/p/.github/y.yaml", selectionOf("y")),
			map[string]string{".sourceignore": "# none\n"}, nil, []string{"x"}, ""},
		{"has patterns in a directory, and in one below it", with(root(""), "clusters/p/a/b/y.yaml", selectionOf("y"), "clusters/p/a/.sourceignore", "*.yaml\n"),
			map[string]string{"clusters/p/a/b/.sourceignore": "!y.yaml\n"}, nil, []string{"x", "y"}, ""},
		{"has patterns in a link", with(root(""), "patterns", "s.yaml\n"), map[string]string{".sourceignore": "-> patterns"}, nil, nil, ""},
		{"has patterns in files that are not checked out", root("  sparseCheckout: [clusters]\n"), map[string]string{".sourceignore": "s.yaml\n"}, nil, []string{"x"}, ""},
		{"leaves out what does not build", with(root(ignoring("broken.yaml")), "clusters/p/broken.yaml", "a: [\n"), map[string]string{selection: selectionOf("y")}, nil, []string{"y"}, ""},
		{"ignores other files, and has them elsewhere", root(ignoring("/clusters/p/off/")), map[string]string{hidden: selectionOf("x"), file: synced("")}, []string{selection}, []string{"x"},
			"clusters/p: the directory is built as before the change first, in which these are gone or have another state: CatalogSelection flux-system/x; "},
		{"ignores other files, and has new ones", root(ignoring("/clusters/p/off/")), map[string]string{hidden: selectionOf("y"), file: synced("")}, nil, []string{"x", "y"}, ""},
		{"of a FluxInstance ignores by a patch", instance(`[{"op": "add", "path": "/spec/ignore", "value": "/clusters/p/off/"}]`), map[string]string{hidden: selectionOf("x")},
			[]string{selection}, nil, ""},
		{"of a FluxInstance has a patch that cannot be", instance(`[{"op": "remove", "path": "/spec/ignore"}]`), map[string]string{selection: selectionOf("y")}, nil, []string{"y"}, ""},
		{"includes another repository", root(""), map[string]string{file: synced("  include: [{repository: {name: x}}]\n")}, nil, []string{"x"},
			"clusters/p: Kustomization flux-system/flux-system applies files that are not read here, and differs: GitRepository flux-system/flux-system has spec.include"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			commits(t, test.base, nil)
			for _, name := range test.removed {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
			put(t, test.head)
			git(t, "add", "-A")
			git(t, "commit", "-q", "-m", "head")
			compared := compareHead(t, Options{})
			var got []string
			for at := range selectionsOf(compared.Head) {
				got = append(got, strings.Fields(at)[1])
			}
			if slices.Sort(got); !slices.Equal(got, test.want) {
				t.Errorf("the newer commit has the selections %q, want %q", got, test.want)
			}
			if unknown := strings.Join(compared.Unknown, "\n"); !strings.Contains(unknown, test.unknown) || test.unknown == "" && unknown != "" {
				t.Errorf("unknown is %q, want %q", unknown, test.unknown)
			}
		})
	}
}

// A root that leaves its cluster deletes what it has applied, or follows Git no more.
func TestARootThatLeavesItsDirectoryIsUnknown(t *testing.T) {
	const file, other = "clusters/p/flux-system/gotk-sync.yaml", "clusters/p/flux-system/more.yaml"
	root := func(name, dir, spec string) string { return sync(name, dir, "", spec) }
	flux := root("flux-system", "./clusters/p", "")
	kustomization := func(name string) string {
		return "---\n" + strings.SplitN(root(name, "./clusters/p", ""), "---\n", 2)[1]
	}
	base := map[string]string{file: flux, "clusters/p/s.yaml": selectionOf("x")}
	at := func(dir string, files map[string]string) map[string]string {
		moved := map[string]string{}
		for name, content := range files {
			moved[strings.Replace(name, "clusters/p", dir, 1)] = strings.ReplaceAll(content, "clusters/p", dir)
		}
		return moved
	}
	const nowhere = "clusters/p: the directory is gone, and what applies it finds nothing there: the cluster keeps all that it has, and follows Git no more"
	const gone = "clusters/p: the Kustomization flux-system/flux-system, which applies this directory, is renamed or removed"
	tests := []struct {
		name       string
		base, head map[string]string
		unknown    string
	}{
		{"is renamed", base, with(base, file, root("other", "./clusters/p", "")), gone},
		{"is removed", base, map[string]string{"clusters/p/s.yaml": selectionOf("x")}, gone},
		{"gets another path", base, with(base, file, root("flux-system", "./clusters", "")), gone},
		{"gets a kubeConfig", base, with(base, file, root("flux-system", "./clusters/p", "  kubeConfig: {secretRef: {name: edge}}\n")), gone},
		{"moves with its directory", base, at("clusters/q", base), nowhere},
		{"is removed with its directory", base, map[string]string{"other.yaml": "a: b\n"}, nowhere},
		{"becomes another one by a patch", base, with(base, "clusters/p/kustomization.yaml",
			"resources: [flux-system/gotk-sync.yaml, s.yaml]\npatches: [{target: {kind: Kustomization}, patch: '- {op: replace, path: /spec/path, value: ./x}'}]\n"), gone},
		{"stays beside another one that comes first", base, with(base, "clusters/p/flux-system/a.yaml", strings.TrimPrefix(kustomization("a"), "---\n")), ""},
		{"stays, and the other one leaves", with(base, other, strings.TrimPrefix(kustomization("a"), "---\n")), base,
			"clusters/p: the Kustomization flux-system/a, which applies this directory, is renamed or removed"},
		{"is new", map[string]string{"clusters/p/s.yaml": base["clusters/p/s.yaml"]}, base, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			commits(t, test.base, nil)
			for name := range maps.Keys(test.base) {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
			put(t, test.head)
			git(t, "add", "-A")
			git(t, "commit", "-q", "-m", "head")
			unknown := strings.Join(compareHead(t, Options{}).Unknown, "\n")
			if !strings.Contains(unknown, test.unknown) || test.unknown == "" && unknown != "" {
				t.Errorf("unknown is %q, want %q", unknown, test.unknown)
			}
		})
	}
}

// A cycle by a kubeConfig has an end, which names it.
func TestAKustomizationThatAppliesItselfElsewhereIsNamed(t *testing.T) {
	files := with(cluster(""), "cluster/flux.yaml", sync("flux-system", "./cluster", "", "  kubeConfig: {secretRef: {name: edge}}\n"), "cluster/s.yaml", selectionOf("x"))
	commits(t, files, map[string]string{"cluster/s.yaml": selectionOf("y")})
	compared := compareHead(t, Options{})
	const note = "cluster: Kustomization flux-system/flux-system by kubeConfig edge in flux-system cannot be built here, and is the same in both commits: " +
		"it applies itself, again and again, to the cluster of its kubeConfig: Kustomization flux-system/flux-system -> flux-system/flux-system by kubeConfig edge in flux-system"
	if !slices.Contains(compared.Notes, note) || len(compared.Unknown) > 0 {
		t.Errorf("notes are %q, unknown is %q", compared.Notes, compared.Unknown)
	}
}

// The files of a submodule leave with the field that has the source recurse into it.
func TestARootThatLeavesASubmoduleOutIsUnknown(t *testing.T) {
	const file, module = "clusters/p/flux-system/gotk-sync.yaml", "clusters/p/sub"
	commits(t, map[string]string{file: sync("flux-system", "./clusters/p", "  recurseSubmodules: true\n", ""), "clusters/p/s.yaml": selectionOf("x")}, nil)
	if err := os.MkdirAll(module, 0o750); err != nil {
		t.Fatal(err)
	}
	git(t, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("a", 40)+","+module)
	git(t, "commit", "-q", "-m", "a submodule")
	git(t, "tag", "-f", "base")
	put(t, map[string]string{file: sync("flux-system", "./clusters/p", "", "")})
	git(t, "commit", "-q", "-a", "-m", "head")
	const want = "clusters/p: the directory has resources outside of this repository, which are not fetched; these, or the changes to them, differ: clusters/p/sub (a submodule at aaaaaaaaaaaa)"
	if unknown := compareHead(t, Options{}).Unknown; !slices.Contains(unknown, want) {
		t.Errorf("unknown is %q, want %q", unknown, want)
	}
}
