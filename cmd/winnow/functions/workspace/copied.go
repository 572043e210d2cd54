// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

const (
	// maxCopied and maxCopiedBytes bound what is copied.
	maxCopied      = 100_000
	maxCopiedBytes = 4 << 30
)

// tree are the files of a root without some.
type tree struct {
	fs.FS

	skip func(name string) bool
}

// ReadDir implements fs.ReadDirFS.
func (t tree) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(t.FS, name)
	return slices.DeleteFunc(entries, func(entry fs.DirEntry) bool { return t.skip(path.Join(name, entry.Name())) }), err
}

// Copied returns the files of a root to copy, without .git and without the output, which may lie in the root. It refuses
// symbolic links, and more than a repository has.
func Copied(ctx context.Context, root *os.Root, output string) (fs.FS, error) {
	skipped := ""
	from, err := Absolute(root.Name())
	if err != nil {
		return nil, err
	}
	to, err := Absolute(output)
	if err != nil {
		return nil, err
	}
	if inside, err := filepath.Rel(from, to); err == nil && filepath.IsLocal(inside) {
		skipped = filepath.ToSlash(inside)
	}
	files := tree{root.FS(), func(name string) bool { return name == skipped || path.Base(name) == ".git" }}
	count, size := 0, int64(0)
	return files, fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case entry.IsDir():
		case !entry.Type().IsRegular():
			return fmt.Errorf("%s is a symbolic link or no regular file, which is not copied", name)
		default:
			info, err := entry.Info()
			if err != nil {
				return err
			}
			size += info.Size()
		}
		if count++; count > maxCopied || size > maxCopiedBytes {
			return errors.New("it has too many files: resolve a smaller directory")
		}
		return nil
	})
}
