// SPDX-License-Identifier: Apache-2.0

// Package tree holds the files of an artifact in memory: safe slash paths, a
// read-only file system over them, their content digest and the
// kustomization.yaml that names them.
//
// It must not know catalogs, the meaning of any file, archives, the network,
// the disk or Kubernetes clients.
package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Tree is a set of regular files by slash path. There are no empty
// directories, modes, owners or times: only what a content digest covers.
//
// The zero value is an empty tree. A Tree is filled by one goroutine and is
// immutable by convention afterwards; then any number may read it.
type Tree struct {
	files map[string][]byte
	// dirs has every directory that a file implies.
	dirs map[string]struct{}
	// paths are in the order of Add, which is the sorted one in a canonical archive.
	paths []string
	size  int64
}

// New returns an empty tree.
func New() *Tree {
	return &Tree{}
}

// Add adds a file. It refuses, with a *PathError, a path that CheckPath
// refuses, a file that is in the tree already, and one that would be a
// directory as well ("a" beside "a/b"). A refused file leaves the tree as it
// was.
//
// The tree keeps content without a copy: it must not be modified afterwards.
func (t *Tree) Add(path string, content []byte) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	if err := t.checkFree(path); err != nil {
		return err
	}
	if t.files == nil {
		t.files = map[string][]byte{}
		t.dirs = map[string]struct{}{}
	}
	t.addDirs(path)
	t.paths = append(t.paths, path)
	t.files[path] = content
	t.size += int64(len(content))
	return nil
}

// Copy returns a tree of the files that have a name in it. Those that are not needed are empty; nil needs all.
func (t *Tree) Copy(name func(path string) (string, bool), needed func(name string) bool) (*Tree, error) {
	copied := New()
	for _, path := range t.Paths() {
		name, ok := name(path)
		if !ok {
			continue
		}
		var content []byte
		if needed == nil || needed(name) {
			content = t.files[path]
		}
		if err := copied.Add(name, content); err != nil {
			return nil, err
		}
	}
	return copied, nil
}

func (t *Tree) checkFree(path string) error {
	if _, ok := t.files[path]; ok {
		return &PathError{Path: path, Reason: "duplicate file"}
	}
	if _, ok := t.dirs[path]; ok {
		return &PathError{Path: path, Reason: "file is a directory as well"}
	}
	for dir := parent(path); dir != ""; dir = parent(dir) {
		if _, ok := t.dirs[dir]; ok {
			return nil // then those above are directories too
		}
		if _, ok := t.files[dir]; ok {
			return &PathError{Path: path, Reason: "parent " + quote(dir) + " is a file"}
		}
	}
	return nil
}

func (t *Tree) addDirs(path string) {
	for dir := parent(path); dir != ""; dir = parent(dir) {
		if _, ok := t.dirs[dir]; ok {
			return
		}
		t.dirs[dir] = struct{}{}
	}
}

// Paths returns the paths of all files, sorted by their bytes. The caller
// owns the slice.
func (t *Tree) Paths() []string {
	return slices.Sorted(slices.Values(t.paths))
}

// Content returns the bytes of a file and whether there is such a file. The
// slice is the tree's own: it must not be modified.
func (t *Tree) Content(path string) ([]byte, bool) {
	content, ok := t.files[path]
	return content, ok
}

// Len returns the number of files.
func (t *Tree) Len() int {
	return len(t.paths)
}

// Size returns the bytes of all files together.
func (t *Tree) Size() int64 {
	return t.size
}

// parent returns the directory of a safe path, or "" for the root.
func parent(path string) string {
	return path[:max(strings.LastIndexByte(path, '/'), 0)]
}

// Digest returns the digest of the tree's content, "sha256:<hex>": the SHA-256
// of one line "<sha256 hex of the file>  <path>\n" for each file, sorted by
// path. It depends on paths and bytes alone, not on modes, times, the order of
// Add or a compression. An unpacked artifact shows the same with
//
//	find . -type f | sed 's,^\./,,' | LC_ALL=C sort |
//	    xargs -r -d '\n' sha256sum -- | sha256sum
func (t *Tree) Digest() string {
	lines := sha256.New()
	var line []byte
	for _, path := range t.Paths() {
		sum := sha256.Sum256(t.files[path])
		line = hex.AppendEncode(line[:0], sum[:])
		line = append(line, "  "...)
		line = append(line, path...)
		line = append(line, '\n')
		lines.Write(line)
	}
	return "sha256:" + hex.EncodeToString(lines.Sum(nil))
}
