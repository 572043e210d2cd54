// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"
	"strings"

	"github.com/winnow-dev/winnow/render/tree"
)

// collector gathers entries in a tree under the limits that do not depend on
// where the entries come from. Its methods take the entry's name for messages
// and its path in the tree.
type collector struct {
	limits  Limits
	skip    Skip
	tree    *tree.Tree
	entries int
	paths   int64 // bytes
	// dirs has the directories that have entries of their own, and the directories above them: the
	// tree has only directories of files.
	dirs map[string]struct{}
}

// Skip reports whether the content of the file with this path and size is not needed. Nil skips nothing.
type Skip func(path string, size int64) bool

func (c *collector) skips(path string, size int64) bool {
	return c.skip != nil && c.skip(path, size)
}

func (c *collector) count(name string) error {
	c.entries++
	if c.entries > c.limits.Files {
		return exceed(name, "number of entries", int64(c.limits.Files))
	}
	return nil
}

func (c *collector) checkPath(name, path string) error {
	if len(path) > c.limits.PathLength {
		return exceed(name, "bytes of the path", int64(c.limits.PathLength))
	}
	if err := tree.CheckPath(path); err != nil {
		return pathError(name, err)
	}
	if strings.Count(path, "/") >= c.limits.Depth {
		return exceed(name, "elements of the path", int64(c.limits.Depth))
	}
	if c.paths += int64(len(path)); c.paths > c.limits.Paths {
		return exceed("", "bytes of all paths", c.limits.Paths)
	}
	return nil
}

func (c *collector) addFile(name, path string, content []byte) error {
	if _, ok := c.dirs[path]; ok {
		return refuse(name, "file is a directory as well")
	}
	if err := c.tree.Add(path, content); err != nil {
		return pathError(name, err)
	}
	return nil
}

// addDir checks a directory's entry; the root's own is allowed.
func (c *collector) addDir(name, path string) error {
	if name != "" && (path == "" || path == ".") {
		return nil
	}
	if path != "/" {
		path = strings.TrimSuffix(path, "/")
	}
	if err := c.checkPath(name, path); err != nil {
		return err
	}
	for dir := path; dir != ""; dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)] {
		if _, ok := c.dirs[dir]; ok {
			return nil
		}
		if _, ok := c.tree.Content(dir); ok {
			return refuse(name, "directory is a file as well")
		}
		c.dirs[dir] = struct{}{}
	}
	return nil
}

// pathError turns the tree's error into one that names the entry.
func pathError(name string, err error) error {
	if unsafe, ok := errors.AsType[*tree.PathError](err); ok {
		return &Error{Path: name, Reason: unsafe.Reason, Err: err}
	}
	return err
}
