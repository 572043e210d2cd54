// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"path"
	"slices"
)

// FS returns a read-only file system over the files that the tree has now. It
// implements fs.ReadDirFS, fs.StatFS and fs.SubFS; modes are
// 0444 and 0555, times are zero. The index of the directories is built here,
// once, so keep the result rather than asking again. Any number of goroutines
// may use it.
func (t *Tree) FS() fs.FS {
	all := make([]node, 0, len(t.files)+len(t.dirs)+1) // one allocation
	nodes := make(map[string]*node, cap(all))
	add := func(path string, n node) {
		all = append(all, n)
		nodes[path] = &all[len(all)-1]
	}
	add(".", node{name: ".", dir: true})
	for dir := range t.dirs {
		add(dir, node{name: path.Base(dir), dir: true})
	}
	for _, file := range t.paths {
		add(file, node{name: path.Base(file), content: t.files[file]})
	}
	for name, n := range nodes {
		if name != "." {
			up := nodes[cmp.Or(parent(name), ".")]
			up.children = append(up.children, n)
		}
	}
	for _, n := range nodes {
		slices.SortFunc(n.children, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	}
	return &fileSystem{nodes: nodes, root: "."}
}

// fileSystem serves the part of a tree below root, "." for all of it.
type fileSystem struct {
	nodes map[string]*node
	root  string
}

func (f *fileSystem) lookup(op, name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	full := name
	if f.root != "." {
		full = path.Join(f.root, name)
	}
	n, ok := f.nodes[full]
	if !ok {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	if name == "." && f.root != "." {
		return &node{name: ".", dir: true, children: n.children}, nil
	}
	return n, nil
}

// directory looks up a directory.
func (f *fileSystem) directory(op, name string) (*node, error) {
	n, err := f.lookup(op, name)
	if err == nil && !n.dir {
		err = &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return n, err
}

// Open implements fs.FS.
func (f *fileSystem) Open(name string) (fs.File, error) {
	n, err := f.lookup("open", name)
	if err != nil {
		return nil, err
	}
	if n.dir {
		return &openDir{node: n}, nil
	}
	return &openFile{node: n, Reader: bytes.NewReader(n.content)}, nil
}

// ReadDir implements fs.ReadDirFS.
func (f *fileSystem) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := f.directory("readdir", name)
	if err != nil {
		return nil, err
	}
	return slices.Clone(n.children), nil
}

// Stat implements fs.StatFS.
func (f *fileSystem) Stat(name string) (fs.FileInfo, error) {
	n, err := f.lookup("stat", name)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// Sub implements fs.SubFS. Unlike fs.Sub over a foreign file system it fails
// where there is no such directory.
func (f *fileSystem) Sub(dir string) (fs.FS, error) {
	if _, err := f.directory("sub", dir); err != nil {
		return nil, err
	}
	return &fileSystem{nodes: f.nodes, root: path.Join(f.root, dir)}, nil
}

// openFile is a file being read; bytes.Reader adds io.Seeker, io.ReaderAt and
// io.WriterTo.
type openFile struct {
	*bytes.Reader
	node *node
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.node, nil }
func (f *openFile) Close() error               { return nil }

// Content returns the bytes of an open file without a copy. They must not be modified.
func (f *openFile) Content() []byte { return f.node.content }

// openDir is a directory being listed; next is the first entry not yet given.
type openDir struct {
	node *node
	next int
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.node, nil }
func (d *openDir) Close() error               { return nil }

// Read fails: a directory has no bytes.
func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.node.name, Err: fs.ErrInvalid}
}

// ReadDir implements fs.ReadDirFile.
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	rest := d.node.children[d.next:]
	if n > 0 && len(rest) == 0 {
		return nil, io.EOF
	}
	if n > 0 && n < len(rest) {
		rest = rest[:n]
	}
	d.next += len(rest)
	return slices.Clone(rest), nil
}
