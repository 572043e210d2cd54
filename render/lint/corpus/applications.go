// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/each"
)

// readApplications reads the directories of the format Applications, each with a definition and its metadata.
func readApplications(ctx context.Context, fsys fs.FS) (all []*Definition, err error) {
	directories, err := directories(fsys)
	if err != nil {
		return nil, err
	}
	for _, directory := range directories {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d := &Definition{Path: path.Join(directory, catalog.ApplicationFile), MetadataPath: path.Join(directory, catalog.MetadataFile)}
		if d.Data, d.Root, _, err = Document(fsys, d.Path); err != nil {
			return nil, err
		}
		d.File = d.Data
		if d.MetadataFile, d.Metadata, d.HasMetadata, err = Document(fsys, d.MetadataPath); err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// directories returns those that are, or should be, applications.
func directories(fsys fs.FS) ([]string, error) {
	root, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	for _, entry := range root {
		if entry.IsDir() && entry.Name() == catalog.ApplicationsDirectory {
			children, err := fs.ReadDir(fsys, catalog.ApplicationsDirectory)
			return Visible(catalog.ApplicationsDirectory, children), err
		}
	}
	return catalog.StrippedDirectories(fsys, root)
}

// Visible returns the paths of the directories among the entries of one, without those whose names begin with a dot.
func Visible(parent string, entries []fs.DirEntry) []string {
	visible := each.Where(entries, func(entry fs.DirEntry) bool { return entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") })
	return each.Map(visible, func(entry fs.DirEntry) string { return path.Join(parent, entry.Name()) })
}
