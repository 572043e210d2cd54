// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"
)

func TestFSIsAFileSystem(t *testing.T) {
	for _, tc := range []struct {
		name  string
		paths []string
	}{
		{name: "an empty tree"},
		{name: "files in the root", paths: []string{"b", "a"}},
		{name: "directories", paths: files()},
		{name: "a deep file", paths: []string{"a/b/c/d/e/f"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := fstest.TestFS(newTree(t, tc.paths...).FS(), tc.paths...); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestASubdirectoryIsAFileSystem(t *testing.T) {
	tree := newTree(t, "a/b/c", "a/b/d/e", "x")
	for dir, files := range map[string][]string{
		"a":     {"b/c", "b/d/e"},
		"a/b":   {"c", "d/e"},
		"a/b/d": {"e"},
	} {
		sub, err := fs.Sub(tree.FS(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := fstest.TestFS(sub, files...); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestReadDirIsSortedByName(t *testing.T) {
	entries, err := fs.ReadDir(newTree(t, files()...).FS(), ".")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if want := []string{"-n", "A", "a", "a b", "a-b", "a.yaml", "z", "ä"}; !slices.Equal(got, want) {
		t.Errorf("entries are %q, want %q", got, want)
	}
}

func TestFSRefuses(t *testing.T) {
	fsys := newTree(t, "a/b").FS()
	for _, tc := range []struct {
		name string
		call func() error
		want error
	}{
		{"opening what is not there", func() error { _, err := fsys.Open("c"); return err }, fs.ErrNotExist},
		{"opening below a file", func() error { _, err := fsys.Open("a/b/c"); return err }, fs.ErrNotExist},
		{"opening an unclean path", func() error { _, err := fsys.Open("a/../a/b"); return err }, fs.ErrInvalid},
		{"reading a directory as a file", func() error { _, err := fs.ReadFile(fsys, "a"); return err }, fs.ErrInvalid},
		{"listing a file", func() error { _, err := fs.ReadDir(fsys, "a/b"); return err }, fs.ErrInvalid},
		{"the status of what is not there", func() error { _, err := fs.Stat(fsys, "c"); return err }, fs.ErrNotExist},
		{"entering a file", func() error { _, err := fs.Sub(fsys, "a/b"); return err }, fs.ErrInvalid},
		{"entering what is not there", func() error { _, err := fs.Sub(fsys, "c"); return err }, fs.ErrNotExist},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := tc.call(); !errors.Is(err, tc.want) {
				t.Errorf("error is %v, want %v", err, tc.want)
			}
		})
	}
}

func TestFSIsThatOfItsTime(t *testing.T) {
	tree := newTree(t, "a")
	fsys := tree.FS()
	if err := tree.Add("b", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := fs.Stat(fsys, "b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a later file shows: %v", err)
	}
}
