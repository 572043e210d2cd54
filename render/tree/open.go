// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"bytes"
	"io"
	"io/fs"
	"slices"
)

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
