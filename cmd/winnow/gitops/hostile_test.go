// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
)

// The content of a pull request is not trusted: the comparison reads nothing outside of the commit, runs no
// program and fetches nothing. A Kustomization that needs that is unknown, with the reason.
func TestHostileKustomizationsAreNotBuilt(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	defer server.Close()
	web := server.URL + "/x"
	outside := filepath.Join(t.TempDir(), "outside.yaml")
	if err := os.WriteFile(outside, []byte(selectionOf("outside")), 0o600); err != nil {
		t.Fatal(err)
	}
	const file = "apps/kustomization.yaml"
	tests := []struct {
		name  string
		files []string
		// want is part of the reason.
		want string
	}{
		{"a symbolic link out of the tree", []string{file, "resources: [link.yaml]", "apps/link.yaml", "-> " + outside}, "link.yaml"},
		{"an absolute path", []string{file, "resources: [" + outside + "]"}, "outside.yaml"},
		{"a path above the repository", []string{file, "resources: [../../../../../../../../" + outside + "]"}, "outside.yaml"},
		{"a file of the host in a generator", []string{file, "configMapGenerator: [{name: x, files: [/etc/passwd]}]"}, "etc/passwd"},
		{"an exec plugin", []string{file, "transformers: [plugin.yaml]", "apps/plugin.yaml", plugin("exec: {path: ./evil.sh}")}, "plugin"},
		{"a container", []string{file, "generators: [plugin.yaml]", "apps/plugin.yaml", plugin("container: {image: evil}")}, "plugin"},
		{"a chart", []string{file, "helmCharts: [{name: x, repo: '" + web + "'}]"}, "helmCharts are not inflated"},
		{"a cycle of directories", []string{file, "resources: [../b]", "b/kustomization.yaml", "resources: [../apps]"}, "refers to itself: apps -> b -> apps"},
		{"a directory in itself", []string{file, "resources: [../apps]"}, "refers to itself"},
		{"aliases that explode", []string{file, "resources: [bomb.yaml]", "apps/bomb.yaml", bomb()}, "aliases"},
		{"copies that explode", []string{file, "resources: [selection.yaml]\npatches:\n- target: {kind: CatalogSelection}\n  patch: |\n" +
			strings.Repeat("    - {op: copy, from: /spec, path: /spec/x}\n", 40)}, "patches copy"},
		{"copies that explode behind another operation", []string{file, "resources: [selection.yaml]\npatches:\n- target: {kind: CatalogSelection}\n  patch: |\n" +
			strings.Repeat("    - {op: test, op: copy, from: /spec, path: /spec/x}\n", 40)}, "patches copy"},
		{"a file that is too large", []string{file, "resources: [large.yaml]", "apps/large.yaml", strings.Repeat("# large\n", repository.MaxFile/8+1)}, "too large"},
		{"a file of too many values", []string{file, "resources: [wide.yaml]", "apps/wide.yaml", "a: [" + strings.Repeat("[],", repository.MaxFile/4) + "]\n"}, "too large: it may have more than 2500000 values"},
		{"a component of the web", []string{file, "components: ['" + web + "']"}, "nothing is fetched"},
		{"a patch of the web", []string{file, "resources: [selection.yaml]\npatches: [{path: '" + web + "'}]"}, "nothing is fetched"},
		{"an old patch of the web", []string{file, "resources: [selection.yaml]\npatchesStrategicMerge: ['" + web + "']"}, "nothing is fetched"},
		{"an old patch of the web in braces", []string{file, "resources: [selection.yaml]\npatchesStrategicMerge: ['" + web + "{}']"}, "nothing is fetched"},
		{"a JSON patch of the web", []string{file, "resources: [selection.yaml]\npatchesJson6902: [{path: '" + web + "', target: {version: v1, kind: X, name: x}}]"}, "nothing is fetched"},
		{"a ConfigMap of the web", []string{file, "configMapGenerator: [{name: x, files: ['key=" + web + "']}]"}, "nothing is fetched"},
		{"an environment of the web", []string{file, "secretGenerator: [{name: x, envs: ['" + web + "']}]"}, "nothing is fetched"},
		{"a definition of the web", []string{file, "crds: ['" + web + "']"}, "nothing is fetched"},
		{"a configuration of the web", []string{file, "configurations: ['" + web + "']"}, "nothing is fetched"},
		{"a schema of the web", []string{file, "openapi: {path: '" + web + "'}"}, "nothing is fetched"},
		{"a replacement of the web", []string{file, "replacements: [{path: '" + web + "'}]"}, "nothing is fetched"},
		{"a transformer of the web", []string{file, "transformers: ['" + web + "']"}, "nothing is fetched"},
		{"a transformer that loads from the web", []string{file, "transformers: [t.yaml]", "apps/t.yaml",
			"apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\npath: '" + web + "'\n"}, "nothing is fetched"},
		{"an inline generator that loads from the web", []string{file, "generators:\n- |\n  apiVersion: builtin\n  kind: ConfigMapGenerator\n  metadata: {name: x}\n  files: ['k=" + web + "']\n"}, "nothing is fetched"},
		{"transformers from a directory", []string{file, "transformers: [../t]", "t/kustomization.yaml", "resources: []"}, "not evaluated here"},
		{"fields in other letters", []string{file, "Components: ['" + web + "']"}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			commits(t, cluster(""), with(nil, test.files...))
			log := spyGit(t)
			compared := compareHead(t, Options{})
			if got := strings.Join(compared.Unknown, "\n"); !strings.Contains(got, "Kustomization flux-system/apps cannot be built here, and differs") || !strings.Contains(got, test.want) {
				t.Errorf("unknown is %q, want that apps cannot be built because of %q", got, test.want)
			}
			for name, unknown := range selectionsOf(compared.Head) {
				if len(unknown) == 0 || strings.Contains(name, "outside") {
					t.Errorf("%s is taken for known", name)
				}
			}
			for line := range strings.Lines(readLog(t, log)) {
				if !strings.HasPrefix(line, "ls-tree") && !strings.HasPrefix(line, "cat-file") && !strings.HasPrefix(line, "config -z") && !strings.HasPrefix(line, "-c user") {
					t.Errorf("git was run: %s", line)
				}
			}
		})
	}
	if requests > 0 {
		t.Errorf("%d files were fetched", requests)
	}
}

func plugin(function string) string {
	return "apiVersion: example.com/v1\nkind: Plugin\nmetadata:\n  name: plugin\n  annotations:\n    config.kubernetes.io/function: |\n      " + function + "\n"
}

// bomb is a small document that expands to a billion nodes.
func bomb() string {
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 9 {
		fmt.Fprintf(&text, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	return text.String()
}

// spyGit puts a script before git in the PATH that logs the arguments.
func spyGit(t *testing.T) (log string) {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log = filepath.Join(dir, "log")
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" >>%s\nexec %s \"$@\"\n", log, real)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return log
}

func readLog(t *testing.T, log string) string {
	t.Helper()
	content, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Resources outside of the repository are left out, and the rest is built.
func TestRemoteResourcesAreLeftOut(t *testing.T) {
	for _, remote := range []string{
		"https://example.com/x.yaml", "HTTPS://example.com/x", "git@github.com:org/repo", "github.com/org/repo?ref=v1", "git::https://x/y//z",
		"ssh://git@example.com/org/repo", "file:///etc/x", "gh:org/repo", "user@host.xz:org/repo.git", "www.github.com/org/repo",
	} {
		t.Run(remote, func(t *testing.T) {
			files := with(cluster(""), "apps/kustomization.yaml", "resources: [selection.yaml, '"+remote+"']")
			commits(t, files, nil)
			log := spyGit(t)
			compared := compareHead(t, Options{})
			want := map[string][]string{"cluster flux-system/apps apps apps/selection.yaml": nil}
			if got := selectionsOf(compared.Head); !reflect.DeepEqual(got, want) {
				t.Errorf("selections are %v, want %v", got, want)
			}
			note := "cluster: Kustomization flux-system/apps has resources outside of this repository, which are not fetched, and are the same in both commits: " + remote
			if len(compared.Unknown) > 0 || !strings.Contains(strings.Join(compared.Notes, "\n"), note) {
				t.Errorf("unknown is %q, notes are %q", compared.Unknown, compared.Notes)
			}
			if text := readLog(t, log); strings.Contains(text, "fetch") || strings.Contains(text, "init") {
				t.Errorf("git was run: %s", text)
			}
		})
	}
}

// Kustomizations that apply each other are evaluated once.
func TestCyclesOfKustomizationsEnd(t *testing.T) {
	next := func(name, path string) string {
		return "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name +
			", namespace: flux-system}\nspec: {path: ./" + path + ", sourceRef: {kind: GitRepository, name: fleet}}\n"
	}
	commits(t, with(cluster(""), "apps/b.yaml", next("b", "b"), "b/apps.yaml", next("apps", "apps"), "b/b.yaml", selectionOf("b")), nil)
	compared := compareHead(t, Options{Paths: []string{"cluster"}})
	want := map[string][]string{
		"cluster flux-system/apps apps apps/selection.yaml": nil,
		"cluster flux-system/b b b/b.yaml":                  nil,
	}
	if got := selectionsOf(compared.Head); !reflect.DeepEqual(got, want) || len(compared.Unknown) > 0 {
		t.Errorf("selections are %v, want %v; unknown is %q", got, want, compared.Unknown)
	}
}

// ArtifactGenerators that take files of each other, each from many directories, are read once for each directory.
func TestGeneratorsOfGeneratorsEnd(t *testing.T) {
	var generators strings.Builder
	for n := range 12 {
		source, from := "kind: GitRepository, name: fleet", "src"
		if n > 0 {
			source, from = fmt.Sprintf("kind: ExternalArtifact, name: made-%d", n-1), "x"
		}
		fmt.Fprintf(&generators, "---\napiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: made-%d, namespace: flux-system}\n"+
			"spec: {sources: [{alias: s, %s}], artifacts: [{name: made-%d, copy: [", n, source, n)
		for step := range 50 {
			fmt.Fprintf(&generators, "{from: '@s/%s/%d/**', to: '@artifact/'}, ", from, step)
		}
		generators.WriteString("]}]}\n")
	}
	generators.WriteString("---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: b, namespace: flux-system}\n" +
		"spec: {path: ./x, sourceRef: {kind: ExternalArtifact, name: made-11}}\n")
	commits(t, with(cluster(""), "apps/b.yaml", generators.String(), "src/7/x.yaml", "a: b\n"), with(nil, "src/7/x.yaml", "a: c\n"))
	const unknown = "Kustomization flux-system/b applies files that are not read here, and differs"
	if compared := compareHead(t, Options{Paths: []string{"cluster"}}); !strings.Contains(strings.Join(compared.Unknown, "\n"), unknown) {
		t.Errorf("unknown is %q, want %s", compared.Unknown, unknown)
	}
}
