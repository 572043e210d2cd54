// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/winnow-dev/winnow/render/tree"
)

// ReadFS reads the regular files of a directory, under the limits and rules of
// Read: a directory that it accepts is accepted as an archive, too. It skips
// .git: the directory with its content, or the file that a work tree has
// instead.
//
// Links below the root are refused, not followed. Pass the FS of an os.Root, so that a link that is
// created during the walk cannot lead outside. The error is an *Error for invalid content, and
// otherwise wraps the error of fsys or ctx.
func ReadFS(ctx context.Context, fsys fs.FS, limits Limits) (*tree.Tree, error) {
	return ReadSomeFS(ctx, fsys, limits, nil, nil)
}

// ReadSomeFS is ReadSome for a directory. It does not open skipped files, and
// leaves out the links that isOutside reports; nil is none.
func ReadSomeFS(ctx context.Context, fsys fs.FS, limits Limits, skip Skip, isOutside func(link string) bool) (*tree.Tree, error) {
	w := &walker{
		collector: collector{limits: limits.withDefaults(), skip: skip, tree: tree.New(), dirs: map[string]struct{}{}},
		ctx:       ctx,
		isOutside: isOutside,
		fsys:      fsys,
		total:     endSize,
	}
	if err := fs.WalkDir(fsys, ".", w.visit); err != nil {
		if own, ok := errors.AsType[*Error](err); ok {
			return nil, own
		}
		return nil, fmt.Errorf("reading directory: %w", err)
	}
	return w.tree, nil
}

// walker reads the files of a directory into a collector.
type walker struct {
	collector
	ctx       context.Context
	fsys      fs.FS
	isOutside func(link string) bool
	total     int64 // what the entries so far would take in a tar stream
}

func (w *walker) visit(path string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if path == "." {
		return nil
	}
	if err := w.count(path); err != nil {
		return err
	}
	switch isGit := entry.Name() == ".git"; {
	case isGit && entry.IsDir():
		return fs.SkipDir
	case isGit:
		return nil
	case !entry.IsDir():
		return w.addRegular(path, entry)
	}
	if err := w.fill(blockSize); err != nil {
		return err
	}
	return w.addDir(path, path)
}

func (w *walker) fill(size int64) error {
	w.total += size
	if w.total > w.limits.Total {
		return exceed("", "uncompressed bytes", w.limits.Total)
	}
	return nil
}

func (w *walker) addRegular(path string, entry fs.DirEntry) error {
	if mode := entry.Type(); !mode.IsRegular() {
		if mode&fs.ModeSymlink != 0 && w.isOutside != nil && w.isOutside(path) {
			return nil
		}
		return refuse(path, refusedMode(mode))
	}
	if err := w.checkPath(path, path); err != nil {
		return err
	}
	info, err := entry.Info()
	if err != nil {
		return err
	}
	size := info.Size()
	if size > w.limits.File {
		return exceed(path, "bytes of the file", w.limits.File)
	}
	var content []byte
	if !w.skips(path, size) {
		if content, err = w.readFile(path); err != nil {
			return err
		}
		size = int64(len(content))
	}
	if err := w.fill(blockSize + padded(size)); err != nil {
		return err
	}
	return w.addFile(path, path, content)
}

// errGrown is no *Error, because it is temporary: the file is being written.
var errGrown = errors.New("file has grown while it was read")

// readFile checks the type again after it has opened the file, and that the file
// has not grown: both may have changed.
func (w *walker) readFile(path string) (content []byte, err error) {
	file, err := w.fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, refuse(path, refusedMode(info.Mode()))
	}
	if info.Size() > w.limits.File {
		return nil, exceed(path, "bytes of the file", w.limits.File)
	}
	content, err = readContent(file, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if n, _ := file.Read(make([]byte, 1)); n > 0 {
		return nil, fmt.Errorf("%s: %w", path, errGrown)
	}
	return content, nil
}

func refusedMode(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return linkRefused
	case mode&fs.ModeSocket != 0:
		return "socket is not allowed"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe is not allowed"
	case mode&fs.ModeCharDevice != 0:
		return "character device is not allowed"
	case mode&fs.ModeDevice != 0:
		return "block device is not allowed"
	}
	return "entry of an unknown type is not allowed"
}
