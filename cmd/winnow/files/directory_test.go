// SPDX-License-Identifier: Apache-2.0

package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
)

func outputTree(t *testing.T, application string) *tree.Tree {
	t.Helper()
	files := tree.New()
	file := "applicationdefinitions/" + application + ".yaml"
	kustomization, err := tree.Kustomization{
		Resources: []string{file},
		Labels:    map[string]string{"app.kubernetes.io/managed-by": "winnow"},
	}.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{file: []byte(application), render.KustomizationFile: kustomization} {
		if err := files.Add(path, content); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// plumPackage is a package of operators as render writes it.
const plumPackage = `---
{schema: olm.package, name: plum, defaultChannel: stable}
---
{schema: olm.channel, package: plum, name: stable, entries: [{name: plum.v1.0.0}]}
---
{schema: olm.bundle, package: plum, name: plum.v1.0.0, image: x, properties: [{type: olm.package, value: {packageName: plum, version: 1.0.0}}]}
`

// A directory must be empty, or contain only files that an earlier render wrote.
func TestCheckReplaceable(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string // besides those of an earlier render, unless alone
		alone bool
		ok    bool
		// replaced reports whether the files go.
		replaced bool
	}{
		{name: "an empty directory", alone: true, ok: true},
		{name: "an earlier output", ok: true},
		{name: "another file at the root", files: map[string]string{"README.md": ""}},
		{name: "another file beside the applications", files: map[string]string{"applicationdefinitions/mine.yaml": ""}},
		{name: "another directory beside the applications", files: map[string]string{"applicationdefinitions/mine/x.yaml": ""}},
		{name: "an earlier package", files: map[string]string{"configs/plum/catalog.yaml": plumPackage}, ok: true, replaced: true},
		{name: "another file in the place of a package", files: map[string]string{"configs/mine/catalog.yaml": "mine: true\n"}},
		{name: "another package in the directory of one", files: map[string]string{"configs/mine/catalog.yaml": plumPackage}},
		{name: "another file beside a package", files: map[string]string{"configs/plum/catalog.yaml": plumPackage, "configs/plum/catalog.txt": ""}},
		{name: "a kustomization of somebody else", alone: true, files: map[string]string{"kustomization.yaml": "resources: [../base]\n"}},
		{name: "a kustomization that cannot be read", alone: true, files: map[string]string{"kustomization.yaml": "resources: 3\n"}},
		{name: "applications without a kustomization", alone: true, files: map[string]string{"applicationdefinitions/a.yaml": ""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if !test.alone {
				if err := WriteDirectory(dir, outputTree(t, "before")); err != nil {
					t.Fatal(err)
				}
			}
			for path, content := range test.files {
				file := filepath.Join(dir, filepath.FromSlash(path))
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				writeFile(t, file, content)
			}
			if err := WriteDirectory(dir, outputTree(t, "after")); (err == nil) != test.ok {
				t.Fatalf("writeDirectory() = %v, want success: %t", err, test.ok)
			}
			for path, content := range test.files {
				if test.replaced {
					break
				}
				if got := readFileString(t, filepath.Join(dir, filepath.FromSlash(path))); got != content {
					t.Errorf("%s was changed to %q", path, got)
				}
			}
			if test.ok {
				compareTree(t, os.DirFS(dir), outputTree(t, "after"))
			}
		})
	}
}

// The directory may be a mount or the working directory of a shell: it must not be replaced.
func TestWriteDirectoryKeepsTheDirectory(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, target := range []string{".", dir, link + "/", link} {
		if err := WriteDirectory(target, outputTree(t, "a")); err != nil {
			t.Fatalf("writing %s: %v", target, err)
		}
		compareTree(t, os.DirFS("."), outputTree(t, "a"))
	}
}

// compareTree fails unless fsys contains exactly the files of want.
func compareTree(t *testing.T, fsys fs.FS, want *tree.Tree) {
	t.Helper()
	got, err := archive.ReadFS(t.Context(), fsys, archive.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest() != want.Digest() {
		t.Errorf("there are %q, want %q", got.Paths(), want.Paths())
	}
}

func TestEntriesAreMovedAllOrNone(t *testing.T) {
	fresh, dir := t.TempDir(), t.TempDir()
	for _, name := range []string{"a/new", "b/new", "c"} {
		file := filepath.Join(fresh, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, file, name)
	}
	taken := filepath.Join(dir, "b")
	if err := os.Mkdir(taken, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(taken, "old"), "old")
	if err := MoveEntries(fresh, dir); err == nil {
		t.Error("a directory that is not empty was replaced")
	}
	for path, want := range map[string]string{dir: "b", taken: "old"} {
		entries, err := os.ReadDir(path)
		if err != nil || len(entries) != 1 || entries[0].Name() != want {
			t.Errorf("%s has %v: %v", path, entries, err)
		}
	}
}
