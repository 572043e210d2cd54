// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Format turns the files of a source into applications. What comes after it knows no format.
type Format interface {
	// Name of the format, as in spec.sources[].format.
	Name() string
	// Detect reports whether a tree of files has the format. At most one format should claim a tree.
	Detect(fsys fs.FS) (bool, error)
	// Needs reports whether Detect or Load look at the content of a file, whose path is that from the root
	// of the catalog. They only have to know of any other file that it is there.
	Needs(path string) bool
	// Load reads the catalog at the root of fsys. The error is an *InvalidError when the content is wrong;
	// it then holds every violation. Other errors are the file system's or the context's. The result
	// depends on nothing but the content of fsys. Nothing of it is read after Load has returned.
	Load(ctx context.Context, fsys fs.FS) (*Catalog, error)
}

// Formats returns all formats. A new one is a file of this package, or a folder below it, and a line here.
func Formats() []Format { return []Format{Applications{}, Definitions{}, FileBased{}, KRMFunctions{}} }

// Named returns the format with a name. It is nil, which stands for detection by content, for Auto and no
// name; the error is for a name that no format has.
func Named(name string) (Format, error) {
	switch name {
	case "", v1alpha1.FormatAuto:
		return nil, nil
	case v1alpha1.FormatFileBased:
		return FileBased{Named: true}, nil
	}
	for _, format := range Formats() {
		if format.Name() == name {
			return format, nil
		}
	}
	return nil, fmt.Errorf("no format %s: want %s", excerpt.Quoted(name), strings.Join(FormatNames(), ", "))
}

// FormatNames returns the names that Named knows.
func FormatNames() []string {
	return append([]string{v1alpha1.FormatAuto}, each.Map(Formats(), Format.Name)...)
}

// Needs reports whether the format, or with nil any format, needs the content of a file.
func Needs(format Format, path string) bool {
	if format != nil {
		return format.Needs(path)
	}
	return slices.ContainsFunc(Formats(), func(format Format) bool { return format.Needs(path) })
}

// Detect returns the format of a tree of files. Two formats that claim it are an *InvalidError that has
// both names. A tree that none claims is one of Applications, whose violations name what is expected, unless it is a bundle
// of an operator, an *InvalidError as well.
func Detect(fsys fs.FS) (Format, error) {
	var found []Format
	for _, format := range Formats() {
		claims, err := format.Detect(fsys)
		if err != nil {
			return nil, fmt.Errorf("detecting the format of the catalog: %w", err)
		}
		if claims {
			found = append(found, format)
		}
	}
	switch len(found) {
	case 0:
		if IsBundle(fsys) {
			return nil, errBundle()
		}
		return Applications{}, nil
	case 1:
		return found[0], nil
	}
	return nil, violation.Invalid(".", "has files of the formats %s and %s: set format, or include, of the source", found[0].Name(), found[1].Name())
}

// cachingFormat is a format that does not parse again what a cache has.
type cachingFormat interface {
	loadCached(ctx context.Context, fsys fs.FS, cache *ParseCache) (*Catalog, error)
}

// LoadCached is Load of a format, with a cache of files that were parsed before; nil for none.
func LoadCached(ctx context.Context, format Format, fsys fs.FS, cache *ParseCache) (*Catalog, error) {
	if cache == nil {
		cache = NewParseCache(nil)
	}
	if format, ok := format.(cachingFormat); ok {
		return format.loadCached(ctx, fsys, cache)
	}
	cache.clear() // it would take memory
	return format.Load(ctx, fsys)
}

// LoadAs is LoadCached with a format that the user has named. If the content is invalid, and has another format, the first
// violation names that one.
func LoadAs(ctx context.Context, format Format, fsys fs.FS, cache *ParseCache) (*Catalog, error) {
	loaded, err := LoadCached(ctx, format, fsys, cache)
	invalid, ok := errors.AsType[*violation.InvalidError](err)
	if !ok {
		return loaded, err
	}
	found, failed := Detect(fsys)
	switch {
	case failed != nil && IsBundle(fsys):
		return nil, failed
	case failed != nil || found.Name() == format.Name():
		return nil, err
	}
	if claims, failed := found.Detect(fsys); failed != nil || !claims { // Applications stand for no format
		return nil, err
	}
	advice := violation.Invalid(".", "looks like the format %s, and is read as %s: set format: %[1]s, or leave format out", found.Name(), format.Name())
	advice.Violations, advice.Omitted = append(advice.Violations, invalid.Violations...), invalid.Omitted
	return nil, advice
}

// Load is Load of the format that the content has.
func Load(ctx context.Context, fsys fs.FS) (*Catalog, error) {
	format, err := Detect(fsys)
	if err != nil {
		return nil, err
	}
	return format.Load(ctx, fsys)
}
