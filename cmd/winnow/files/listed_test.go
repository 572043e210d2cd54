// SPDX-License-Identifier: Apache-2.0

package files

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/tree"
)

func treeOf(t *testing.T, contents map[string]string) *tree.Tree {
	t.Helper()
	files := tree.New()
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		if err := files.Add(name, []byte(contents[name])); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// contentsOf returns the files of a directory, but for the list.
func contentsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && name != "list.txt" {
			found[name] = readFileString(t, filepath.Join(dir, name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestWriteListed(t *testing.T) {
	before := map[string]string{"index.html": "1", "a/one": "1", "a/two": "1", "b/one": "1"}
	after := map[string]string{"index.html": "2", "a/one": "2", "c/d/e": "2"}
	for _, test := range []struct {
		name string
		// others are files that WriteListed did not write, and left is without an earlier output.
		others map[string]string
		first  bool
		// refused is a part of the error; empty for none.
		refused string
	}{
		{name: "an earlier output"},
		{name: "an empty directory", first: true},
		{name: "other files at the top", others: map[string]string{".git/HEAD": "mine", "CNAME": "mine"}},
		{name: "another file in the place of a new directory", others: map[string]string{"c": "mine"}, refused: "holds c,"},
		{name: "another file in a directory of both", others: map[string]string{"a/mine": "mine"}, refused: "holds a/mine,"},
		{name: "another file in a directory that goes", others: map[string]string{"b/mine": "mine"}, refused: "holds b/mine,"},
		{name: "another file of the name without an earlier output", first: true, others: map[string]string{"index.html": "mine"}, refused: "holds index.html,"},
		{name: "a list that names other files", first: true, others: map[string]string{"list.txt": "../mine\n"}, refused: "no list of an earlier output"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			want := maps.Clone(after)
			if !test.first {
				if err := WriteListed(dir, "list.txt", treeOf(t, before)); err != nil {
					t.Fatal(err)
				}
			}
			for name, content := range test.others {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				writeFile(t, filepath.Join(dir, name), content)
			}
			was := contentsOf(t, dir)
			err := WriteListed(dir, "list.txt", treeOf(t, after))
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) || !maps.Equal(contentsOf(t, dir), was) {
					t.Errorf("WriteListed() = %v, and %v became %v", err, was, contentsOf(t, dir))
				}
				return
			}
			maps.Copy(want, test.others)
			if got := contentsOf(t, dir); err != nil || !maps.Equal(got, want) {
				t.Errorf("WriteListed() = %v\n got %v\nwant %v", err, got, want)
			}
			if list := readFileString(t, filepath.Join(dir, "list.txt")); list != "a/one\nc/d/e\nindex.html\n" {
				t.Errorf("the list is %q", list)
			}
		})
	}
}

// What was moved is put back where a later file cannot be.
func TestWriteListedPutsBackWhatItMoved(t *testing.T) {
	dir, fresh, old := t.TempDir(), t.TempDir(), t.TempDir()
	for name, content := range map[string]string{"a": "1", "b": "1"} {
		writeFile(t, filepath.Join(dir, name), content)
		writeFile(t, filepath.Join(fresh, name), "2")
	}
	if err := os.MkdirAll(filepath.Join(old, "b", "full"), 0o755); err != nil { // nothing can be moved there
		t.Fatal(err)
	}
	if err := exchange(dir, fresh, old, []string{"a", "b"}); err == nil {
		t.Fatal("no error")
	}
	if got := contentsOf(t, dir); !maps.Equal(got, map[string]string{"a": "1", "b": "1"}) {
		t.Errorf("the directory has %v", got)
	}
}
