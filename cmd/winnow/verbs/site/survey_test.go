// SPDX-License-Identifier: Apache-2.0

package site

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/test/farm"
)

// A history that cannot be read may have an older commit than that of another file.
func TestTheTimeOfARevisionNeedsEveryHistory(t *testing.T) {
	const source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: catalog}\n" +
		"spec: {url: oci://registry.example.com/catalog, ref: {tag: blue}}\n"
	for _, test := range []struct {
		name  string
		lost  string // an object of Git
		known bool
	}{
		{"all are there", "", true},
		{"one is not", "HEAD~1:two", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			err := farm.Commit(t.Context(), dir,
				map[string]string{"one/source.yaml": source, "two/source.yaml": source},
				map[string]string{"two/README.md": "first"}, map[string]string{"two/README.md": "second"})
			if err != nil {
				t.Skip(err)
			}
			if test.lost != "" {
				removeObject(t, dir, test.lost)
			}
			sources := make([]documents.Source, 2)
			for i, file := range []string{"one/source.yaml", "two/source.yaml"} {
				sources[i].Name, sources[i].File = "catalog", file
			}
			git := repository.Git{Dir: dir}
			head, err := git.Commit(t.Context(), "HEAD")
			if err != nil {
				t.Fatal(err)
			}
			if at := sinceOf(t.Context(), git, head, "oci://registry.example.com/catalog:blue", sources); at.IsZero() == test.known {
				t.Errorf("the revision is there since %v", at)
			}
		})
	}
}

// removeObject removes an object that no pack has.
func removeObject(t *testing.T, dir, object string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "rev-parse", object).Output()
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(string(out))
	if err := os.Remove(filepath.Join(dir, ".git", "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
}
