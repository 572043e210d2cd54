// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/fluxcd/pkg/sourceignore/gitignore"

	"github.com/winnow-dev/winnow/render/bounded"
)

// Paths returns the files of the catalog at the root of fsys, without files that an ignore file names. It returns the
// errors of Load.
func Paths(ctx context.Context, fsys fs.FS) ([]string, error) {
	var found report
	files, err := paths(ctx, fsys, &found)
	if err != nil {
		return nil, fmt.Errorf("listing the files of the catalog: %w", err)
	}
	return files, found.err()
}

// paths returns the files of the catalog, sorted by directory and name.
func paths(ctx context.Context, fsys fs.FS, found *report) ([]string, error) {
	var all []string
	var ignore ignored
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case entry.IsDir():
			return nil
		case path.Base(name) == IgnoreFile:
			data, err := readFile(fsys, name, maxIgnoreFile, found)
			ignore.add(name, data, found)
			return err
		}
		if all = append(all, name); len(all) > maxFiles {
			found.file(".", "has more than %d files", maxFiles)
			return fs.SkipAll
		}
		return nil
	})
	kept, matcher := all[:0], gitignore.NewMatcher(ignore)
	for _, name := range all {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !matcher.Match(strings.Split(name, "/"), false) {
			kept = append(kept, name)
		}
	}
	return kept, err
}

// readFile returns the bytes of a regular file, nil when found explains why there are none.
func readFile(fsys fs.FS, name string, limit int, found *report) ([]byte, error) {
	data, err := bounded.ReadFile(fsys, name, limit)
	switch {
	case errors.Is(err, bounded.ErrNotRegular):
		found.file(name, "must be a regular file, or match a pattern in %s", IgnoreFile)
		return nil, nil
	case errors.Is(err, bounded.ErrTooLarge):
		found.file(name, "is larger than %d bytes", limit)
		return nil, nil
	}
	return data, err
}
