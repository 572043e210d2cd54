// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/catalog/violation"
)

// The files of a tree, as every format looks at them: what is there, what is hidden, what is YAML.

// hasDirectory reports whether a directory of the name is among entries.
func hasDirectory(entries []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		return entry.IsDir() && entry.Name() == name
	})
}

func isHidden(name string) bool {
	return strings.HasPrefix(name, ".")
}

// isBelowHidden reports whether a path, or a directory above it, is hidden.
func isBelowHidden(name string) bool { return slices.ContainsFunc(strings.Split(name, "/"), isHidden) }

// exists reports whether a file or directory is there.
func exists(fsys fs.FS, name string) (bool, error) {
	_, err := fs.Stat(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// anyFile reports whether a file that is wanted by its path, and has at most limit bytes, matches by its content.
func anyFile(fsys fs.FS, limit int, wanted func(string) bool, matches func([]byte) bool) (found bool, err error) {
	err = fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !wanted(name) {
			return err
		}
		data, err := document.Read(fsys, limit, &violation.Findings{Path: name})
		if found = err == nil && matches(data); found {
			return fs.SkipAll
		}
		return err
	})
	return found, err
}
