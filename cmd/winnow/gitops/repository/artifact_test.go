// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/artifact/config"
	"github.com/fluxcd/pkg/artifact/digest"
	"github.com/fluxcd/pkg/artifact/storage"
	"github.com/fluxcd/pkg/sourceignore"
)

// archived returns the files and directories that the storage of source-controller archives of a directory, with its reconciler's patterns.
func archived(t *testing.T, s *storage.Storage, dir, ignore string) []string {
	t.Helper()
	domain := strings.Split(dir, "/")
	patterns, err := sourceignore.LoadIgnorePatterns(dir, domain)
	if err != nil {
		t.Fatal(err)
	}
	patterns = append(patterns, sourceignore.ReadPatterns(strings.NewReader(ignore), domain)...)
	artifact := meta.Artifact{Path: "archive.tar.gz"}
	if err := s.Archive(&artifact, dir, storage.SourceIgnoreFilter(patterns, domain)); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(s.LocalPath(artifact))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	content, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for entries := tar.NewReader(content); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if name := strings.TrimSuffix(entry.Name, "/"); name != "" && name != "." {
			names = append(names, name)
		}
	}
	for _, name := range slices.Clone(names) { // those that unpacking makes
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			names = append(names, dir)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestAnArtifactHasTheFilesThatSourceControllerArchives compares random trees with the archives of fluxcd/pkg/artifact.
func TestAnArtifactHasTheFilesThatSourceControllerArchives(t *testing.T) {
	s, err := storage.New(&config.Options{StoragePath: t.TempDir(), StorageAddress: "localhost:0", StorageAdvAddress: "localhost", ArtifactDigestAlgo: digest.Canonical.String()})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(45, 1)) // the same trees each time
	pick := func(all ...string) string { return all[random.IntN(len(all))] }
	names := []string{"a", "b", "a.yaml", "b.yaml", ".github", ".sops.yaml", ".sourceignore", "x.zip", ".gitignore", "cloudbuild.yaml"}
	patterns := []string{"a", "/a", "a/", "*.yaml", "!a.yaml", "!*.yaml", "/a/**", "**/b", "!/a/b", "b/*", "# a", "", " ", ".github/", "none"}
	for n := range 100 {
		dir := t.TempDir()
		git := Git{Dir: dir}
		contents := map[string]string{}
		for range 2 + random.IntN(12) {
			name := pick(names[2:]...)
			for range random.IntN(3) {
				name = pick(names[:2]...) + "/" + name
			}
			if strings.HasSuffix(name, ".github") {
				name += "/" + pick("a.yaml", "b.yaml")
			}
			content := "content"
			if filepath.Base(name) == sourceignore.IgnoreFile {
				content = pick(patterns...) + "\n" + pick(patterns...) + "\n"
			}
			contents[name] = content
		}
		for name, content := range contents {
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if random.IntN(4) == 0 && os.Symlink(pick("a/.sourceignore", "b.yaml"), filepath.Join(dir, ".sourceignore")) == nil {
			contents[".sourceignore"] = "a link"
		}
		ignore := ""
		if random.IntN(2) == 0 {
			ignore = pick(patterns...) + "\n" + pick(patterns...)
		}
		want := archived(t, s, dir, ignore)
		for _, args := range [][]string{{"init", "-q"}, {"add", "--all", "--force"}, {"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "-m", "x"}} {
			if _, err := git.run(t.Context(), args...); err != nil {
				t.Fatal(err)
			}
		}
		commit, err := git.Commit(t.Context(), "HEAD")
		if err != nil {
			t.Fatal(err)
		}
		err = git.ReadTree(t.Context(), commit, func(tree *Tree) error {
			kept := tree.Artifact(Filter{Ignore: ignore})
			got := slices.AppendSeq(slices.Collect(maps.Keys(kept.Files)), maps.Keys(kept.Dirs))
			slices.Sort(got)
			if got = slices.DeleteFunc(got, func(name string) bool { return name == "." }); !slices.Equal(got, want) {
				return fmt.Errorf("tree %d: got %q, want %q of %q with %q", n, got, want, contents, ignore)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
