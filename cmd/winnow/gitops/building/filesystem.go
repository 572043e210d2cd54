// SPDX-License-Identifier: Apache-2.0

package building

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

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

// ReadDir is part of filesys.FileSystem.
func (f *fileSystem) ReadDir(name string) ([]string, error) {
	within, ok := treePath(name)
	if !ok || !f.tree.IsDir(within) {
		return nil, notFound(name)
	}
	return f.tree.Dirs[within], nil
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

// Glob is part of filesys.FileSystem.
func (f *fileSystem) Glob(pattern string) ([]string, error) {
	var found []string
	err := f.Walk(root, func(name string, _ os.FileInfo, err error) error {
		if matched, bad := path.Match(pattern, name); bad != nil {
			return bad
		} else if matched {
			found = append(found, name)
		}
		return err
	})
	return found, err
}

// Walk is part of filesys.FileSystem.
func (f *fileSystem) Walk(name string, visit filepath.WalkFunc) error {
	within, ok := treePath(name)
	if !ok || !f.tree.Exists(within) {
		return visit(name, nil, notFound(name))
	}
	err := visit(name, fileInfo{path.Base(name), f.tree.IsDir(within)}, f.ctx.Err())
	if errors.Is(err, filepath.SkipDir) {
		return nil
	}
	for _, child := range f.tree.Dirs[within] {
		if err != nil {
			break
		}
		err = f.Walk(path.Join(name, child), visit)
	}
	return err
}

// Open is part of filesys.FileSystem.
func (f *fileSystem) Open(name string) (filesys.File, error) {
	content, err := f.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return file{bytes.NewReader(content), path.Base(name)}, nil
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

// file is an open file.
type file struct {
	*bytes.Reader
	name string
}

// Write is part of filesys.File.
func (f file) Write([]byte) (int, error) { return 0, errReadOnly }

// Close is part of filesys.File.
func (f file) Close() error { return nil }

// Stat is part of filesys.File.
func (f file) Stat() (os.FileInfo, error) { return fileInfo{f.name, false}, nil }

// fileInfo is an os.FileInfo with a name and a type.
type fileInfo struct {
	name string
	dir  bool
}

// Name is part of os.FileInfo.
func (i fileInfo) Name() string { return i.name }

// Size is part of os.FileInfo.
func (i fileInfo) Size() int64 { return 0 }

// ModTime is part of os.FileInfo.
func (i fileInfo) ModTime() time.Time { return time.Time{} }

// IsDir is part of os.FileInfo.
func (i fileInfo) IsDir() bool { return i.dir }

// Sys is part of os.FileInfo.
func (i fileInfo) Sys() any { return nil }

// Mode is part of os.FileInfo.
func (i fileInfo) Mode() os.FileMode {
	if i.dir {
		return os.ModeDir | 0o755
	}
	return 0o644
}
