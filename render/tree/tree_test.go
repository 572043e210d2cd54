// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// newTree adds files whose content is their path.
func newTree(t testing.TB, paths ...string) *Tree {
	t.Helper()
	tree := New()
	for _, path := range paths {
		if err := tree.Add(path, []byte(path)); err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

func TestAdd(t *testing.T) {
	for _, tc := range []struct {
		name   string
		have   []string
		add    string
		reason string
	}{
		{name: "a file beside others is added", have: []string{"a/b", "c"}, add: "a/d"},
		{name: "a file whose name begins like a directory is added", have: []string{"a/b"}, add: "a-b"},
		{name: "a name that differs in case is another file", have: []string{"a"}, add: "A"},
		{name: "an unsafe path is refused", add: "../a", reason: `path has a ".." element`},
		{name: "a file that is there is refused", have: []string{"a/b"}, add: "a/b", reason: "duplicate file"},
		{name: "a file that is a directory is refused", have: []string{"a/b/c"}, add: "a", reason: "file is a directory as well"},
		{name: "a file below a file is refused", have: []string{"a"}, add: "a/b", reason: `parent "a" is a file`},
		{name: "a file far below a file is refused", have: []string{"x/a"}, add: "x/a/b/c/d", reason: `parent "x/a" is a file`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree := newTree(t, tc.have...)
			err := tree.Add(tc.add, []byte("new"))
			want := slices.Clone(tc.have)
			if tc.reason == "" {
				want = append(want, tc.add)
			}
			slices.Sort(want)
			if got := tree.Paths(); !slices.Equal(got, want) {
				t.Errorf("paths are %q, want %q", got, want)
			}
			checkReason(t, err, tc.add, tc.reason)
		})
	}
}

func checkReason(t *testing.T, err error, path, reason string) {
	t.Helper()
	if reason == "" {
		if err != nil {
			t.Errorf("unexpected error: %v", err)
		}
		return
	}
	var got *PathError
	if !errors.As(err, &got) {
		t.Fatalf("error is %v, want a *PathError", err)
	}
	if want := (PathError{Path: path, Reason: reason}); *got != want {
		t.Errorf("error is %+v, want %+v", *got, want)
	}
}

func TestARefusedFileLeavesNoTrace(t *testing.T) {
	tree := newTree(t, "a/b")
	digest := tree.Digest()
	for _, path := range []string{"a", "a/b", "a/b/c/d", "x//y"} {
		if err := tree.Add(path, []byte("refused")); err == nil {
			t.Fatalf("%q was added", path)
		}
	}
	if tree.Len() != 1 || tree.Size() != 3 || tree.Digest() != digest {
		t.Errorf("the tree has changed: %q", tree.Paths())
	}
	if err := tree.Add("a/c", nil); err != nil {
		t.Errorf("a directory of a refused file is in the way: %v", err)
	}
}

func TestTheZeroValueIsAnEmptyTree(t *testing.T) {
	var tree Tree
	if tree.Len() != 0 || tree.Size() != 0 || len(tree.Paths()) != 0 {
		t.Errorf("tree is not empty: %q", tree.Paths())
	}
	if _, ok := tree.Content("a"); ok {
		t.Error("an empty tree has a file")
	}
	if err := tree.Add("a", []byte("12")); err != nil {
		t.Fatal(err)
	}
	if content, ok := tree.Content("a"); !ok || string(content) != "12" || tree.Size() != 2 {
		t.Errorf("content is %q, size is %d", content, tree.Size())
	}
}

func TestPathsAreTheCallers(t *testing.T) {
	tree := newTree(t, "a", "b")
	tree.Paths()[0] = "changed"
	if got := tree.Paths(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("paths are %q", got)
	}
}

func BenchmarkFS(b *testing.B) {
	tree := New()
	for i := range 10_000 {
		if err := tree.Add(fmt.Sprintf("applications/app-%05d/application.yaml", i), nil); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		tree.FS()
	}
}
