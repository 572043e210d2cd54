// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"io/fs"
	"time"
)

// node is a file or a directory: its own fs.FileInfo and fs.DirEntry.
type node struct {
	name     string
	dir      bool
	content  []byte
	children []fs.DirEntry // sorted by name
}

func (n *node) Name() string               { return n.name }
func (n *node) Size() int64                { return int64(len(n.content)) }
func (n *node) ModTime() time.Time         { return time.Time{} }
func (n *node) IsDir() bool                { return n.dir }
func (n *node) Sys() any                   { return nil }
func (n *node) Type() fs.FileMode          { return n.Mode().Type() }
func (n *node) Info() (fs.FileInfo, error) { return n, nil }
func (n *node) String() string             { return fs.FormatFileInfo(n) }

func (n *node) Mode() fs.FileMode {
	if n.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}
