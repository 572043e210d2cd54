// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
)

// commits creates a repository with two commits, base and head, in the working directory of the test.
// A file that begins with "-> " is a symbolic link.
func commits(t *testing.T, base, head map[string]string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed")
	}
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	git(t, "init", "-q", "-b", "main")
	git(t, "remote", "add", "origin", "https://git.example.com/org/fleet")
	for name, files := range map[string]map[string]string{"base": base} {
		put(t, files)
		git(t, "add", "-A")
		git(t, "commit", "-q", "--allow-empty", "-m", name)
		git(t, "tag", name)
	}
	put(t, head)
	git(t, "add", "-A")
	git(t, "commit", "-q", "--allow-empty", "-m", "head")
}

func put(t *testing.T, files map[string]string) {
	t.Helper()
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		target, link := strings.CutPrefix(content, "-> ")
		var err error
		if link {
			err = os.Symlink(target, name)
		} else {
			err = os.WriteFile(name, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=somebody", "-c", "user.email=somebody@example.com"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// headTree returns the tree of the last commit. It can be read until the test ends.
func headTree(t *testing.T) *repository.Tree {
	t.Helper()
	objects, err := repository.Git{}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(objects.Close)
	found, err := repository.Git{}.Tree(t.Context(), git(t, "rev-parse", "HEAD"), objects)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// compareHead compares base with the commit after it.
func compareHead(t *testing.T, options Options) *Comparison {
	t.Helper()
	if options.Paths == nil {
		options.Paths = []string{"."}
	}
	options.Keep = func([]byte) bool { return true }
	compared, err := Compare(t.Context(), git(t, "rev-parse", "base"), git(t, "rev-parse", "HEAD"), options)
	if err != nil {
		t.Fatal(err)
	}
	return compared
}

// cluster returns the files of a cluster, with a Kustomization that applies the directory apps.
func cluster(spec string) map[string]string {
	return map[string]string{"cluster/flux.yaml": `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: flux-system}
spec: {url: "https://git.example.com/org/fleet.git"}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  path: ./apps
  sourceRef: {kind: GitRepository, name: fleet}
` + spec, "apps/selection.yaml": selectionOf("apps")}
}

func selectionOf(name string) string {
	return "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: " + name + ", namespace: flux-system}\n"
}

// with returns files and more, which are alternating paths and contents.
func with(files map[string]string, more ...string) map[string]string {
	all := map[string]string{}
	for name, content := range files {
		all[name] = content
	}
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}

// selectionsOf maps the names of the CatalogSelections of a state to their unknown parts.
func selectionsOf(state State) map[string][]string {
	found := map[string][]string{}
	for _, o := range state.Objects {
		if o.GetKind() == "CatalogSelection" {
			unknown := slices.Clone(o.Unknown)
			if o.Lost != "" {
				unknown = append(unknown, o.Lost)
			}
			found[o.Cluster+" "+o.Kustomization+" "+o.GetName()+" "+o.File] = unknown
		}
	}
	return found
}
