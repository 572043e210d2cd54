// SPDX-License-Identifier: Apache-2.0

package building

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
)

// root is the path of the tree for kustomize. No such directory exists: kustomize reads files of Git only.
const root = "/repository"

// Bounds of the reads of one build. A file counts once for each read.
const (
	maxReads     = 50_000
	maxReadBytes = 256 << 20
)

// fileSystem is a read-only file system for kustomize over a tree. edited replaces some of its files.
type fileSystem struct {
	ctx    context.Context
	tree   *repository.Tree
	edited map[string][]byte
	// read has the files of the tree that were read; nil for a build without a record.
	read  map[string]bool
	reads int
	bytes int
}

var _ filesys.FileSystem = (*fileSystem)(nil)

var errReadOnly = errors.New("a commit cannot be changed")

// Create is part of filesys.FileSystem.
func (f *fileSystem) Create(string) (filesys.File, error) { return nil, errReadOnly }

// Mkdir is part of filesys.FileSystem.
func (f *fileSystem) Mkdir(string) error { return errReadOnly }

// MkdirAll is part of filesys.FileSystem.
func (f *fileSystem) MkdirAll(string) error { return errReadOnly }

// RemoveAll is part of filesys.FileSystem.
func (f *fileSystem) RemoveAll(string) error { return errReadOnly }

// WriteFile is part of filesys.FileSystem.
func (f *fileSystem) WriteFile(string, []byte) error { return errReadOnly }

// A build of kustomize calls none of the next four methods: it opens files by their names.

// Glob is part of filesys.FileSystem.
func (f *fileSystem) Glob(string) ([]string, error) { return nil, errors.ErrUnsupported }

// Open is part of filesys.FileSystem.
func (f *fileSystem) Open(string) (filesys.File, error) { return nil, errors.ErrUnsupported }

// ReadDir is part of filesys.FileSystem.
func (f *fileSystem) ReadDir(string) ([]string, error) { return nil, errors.ErrUnsupported }

// Walk is part of filesys.FileSystem.
func (f *fileSystem) Walk(string, filepath.WalkFunc) error { return errors.ErrUnsupported }

// treePath converts a path of kustomize to a path of the tree. It reports false outside of the root.
func treePath(name string) (string, bool) {
	name = path.Clean(name)
	if name == root {
		return ".", true
	}
	return strings.CutPrefix(name, root+"/")
}

// Exists is part of filesys.FileSystem.
func (f *fileSystem) Exists(name string) bool { return f.IsDir(name) || f.isFile(name) }

// IsDir is part of filesys.FileSystem.
func (f *fileSystem) IsDir(name string) bool {
	within, ok := treePath(name)
	return ok && f.tree.IsDir(within)
}

func (f *fileSystem) isFile(name string) bool {
	within, ok := treePath(name)
	return ok && (f.tree.IsFile(within) || f.edited[within] != nil)
}

// CleanedAbs is part of filesys.FileSystem.
func (f *fileSystem) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	name = path.Clean(name)
	switch {
	case f.IsDir(name):
		return filesys.ConfirmedDir(name), "", nil
	case f.isFile(name):
		return filesys.ConfirmedDir(path.Dir(name)), path.Base(name), nil
	}
	return "", "", notFound(name)
}

// ReadFile is part of filesys.FileSystem.
func (f *fileSystem) ReadFile(name string) ([]byte, error) {
	within, ok := treePath(name)
	if !ok || !f.isFile(name) {
		return nil, notFound(name)
	}
	if err := f.ctx.Err(); err != nil {
		return nil, err
	}
	content, edited := f.edited[within]
	if !edited {
		var err error
		if content, err = f.tree.Read(within); err != nil {
			return nil, err
		}
		if f.read != nil {
			f.read[within] = true
		}
	}
	f.reads++
	f.bytes += len(content)
	if f.reads > maxReads || f.bytes > maxReadBytes {
		return nil, fmt.Errorf("%w: the build reads more than %d files, or %d bytes", repository.ErrTooLarge, maxReads, maxReadBytes)
	}
	if err := inputs.CheckAliases(content); err != nil {
		return nil, fmt.Errorf("%s: %w", within, err)
	}
	return bytes.Clone(content), nil
}

func notFound(name string) error {
	within, ok := treePath(name)
	if !ok {
		within = name
	}
	return &fs.PathError{Op: "open", Path: within, Err: fs.ErrNotExist}
}
