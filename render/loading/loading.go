// SPDX-License-Identifier: Apache-2.0

// Package loading reads the catalog at a place of an artifact, within the limits of its format. It must not know
// selections.
package loading

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/opencontainers/go-digest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/seal"
	"github.com/winnow-dev/winnow/render/tree"
)

// CatalogLocation is the part of an artifact that is a catalog: the fields of spec.sources[] with these names.
type CatalogLocation struct {
	// Path of the directory, "" is the root.
	Path string
	// Format of the catalog. Auto, or "": the content decides.
	Format string
	// Include has the patterns of its files below the path; none: all.
	Include []string
}

// LocationOf returns the location that the spec says.
func LocationOf(ref v1alpha1.SourceReference) CatalogLocation {
	return CatalogLocation{Path: ref.Path, Format: ref.Format, Include: ref.Include}
}

// Key identifies a location.
func (p CatalogLocation) Key() string {
	return fmt.Sprintf("%q %s %q", p.Path, cmp.Or(p.Format, v1alpha1.FormatAuto), p.Include)
}

// Archive reads the catalog at a place of a tar.gz archive.
// The name of the source appears in errors. For invalid content the error is a *refusal.Error with the reason
// InvalidArchive or InvalidCatalog. Files that the catalog does not need are checked, but not kept.
func Archive(ctx context.Context, source string, r io.Reader, place CatalogLocation) (*catalog.Catalog, error) {
	return Revision(ctx, source, r, place, nil)
}

// Revision is Archive for another revision of a catalog, which was loaded before: what has not changed is not parsed again.
func Revision(
	ctx context.Context, source string, r io.Reader, place CatalogLocation, before *catalog.Catalog,
) (_ *catalog.Catalog, err error) {
	defer refusal.Recover(source, "loading catalog", &err)
	located, err := place.locate(source)
	if err != nil {
		return nil, err
	}
	var found large
	cache := catalog.NewParseCache(before)
	files, err := located.readArchive(ctx, r, &found, cache)
	if err != nil {
		return nil, refusal.Classify(source, fmt.Errorf("reading archive: %w", err))
	}
	return located.load(ctx, files, found, cache)
}

// readArchive reads an archive, and parses files of it meanwhile.
func (l located) readArchive(ctx context.Context, r io.Reader, found *large, cache *catalog.ParseCache) (*tree.Tree, error) {
	preparser := catalog.NewPreparser(ctx, l.format, cache)
	defer preparser.Wait()
	return archive.ReadSome(ctx, r, LimitsOf(l.Format), l.skip(found), func(path string, content []byte) {
		if name, ok := l.name(path); ok {
			preparser.Add(name, content)
		}
	})
}

// FS is Archive for a directory, with the same limits.
func FS(ctx context.Context, source string, fsys fs.FS, place CatalogLocation) (_ *catalog.Catalog, err error) {
	defer refusal.Recover(source, "loading catalog", &err)
	located, err := place.locate(source)
	if err != nil {
		return nil, err
	}
	var found large
	files, err := archive.ReadSomeFS(ctx, fsys, LimitsOf(place.Format), located.skip(&found), place.Excludes)
	if err != nil {
		return nil, refusal.Classify(source, fmt.Errorf("reading directory: %w", err))
	}
	return located.load(ctx, files, found, nil)
}

// EntryBytes bounds the memory that a file of an archive takes besides its path and its content: an
// entry of a tree, one of its file system, and one of the parse cache.
const EntryBytes = 768

// Measure reads an archive, keeps nothing of it, and returns the most bytes of memory that
// Archive takes for it. For an invalid archive the error is the one of Archive.
func Measure(ctx context.Context, source string, r io.Reader, place CatalogLocation) (_ int64, err error) {
	defer refusal.Recover(source, "loading catalog", &err)
	located, err := place.locate(source)
	if err != nil {
		return 0, err
	}
	var cost catalog.Cost
	var paths int64
	files, err := archive.ReadSome(ctx, r, LimitsOf(place.Format), func(path string, size int64) bool {
		if located.needs(path) {
			cost.Add(path, size)
		}
		paths += int64(len(path))
		return true
	}, nil)
	if err != nil {
		return 0, refusal.Classify(source, fmt.Errorf("reading archive: %w", err))
	}
	return cost.Bytes() + paths + int64(files.Len())*EntryBytes, nil
}

// located is a valid place in the artifact of a source.
type located struct {
	CatalogLocation
	source string
	// format is nil if the content decides.
	format catalog.Format
}

func (p CatalogLocation) locate(source string) (located, error) {
	var format catalog.Format
	err := CheckInclude(p.Include)
	switch {
	case p.Path != "" && !fs.ValidPath(p.Path):
		err = fmt.Errorf("path %q is not a clean relative path", p.Path)
	case err == nil:
		format, err = catalog.Named(p.Format)
	}
	if err != nil {
		return located{}, &refusal.Error{Code: v1alpha1.InvalidSpecReason, Source: source, Err: err}
	}
	return located{p, source, format}, nil
}

// CheckInclude returns an error for a list of patterns that no CatalogLocation may have.
func CheckInclude(patterns []string) error {
	for _, pattern := range patterns {
		if err := checkPattern(pattern); err != nil {
			return err
		}
	}
	return nil
}

// Excludes reports whether a file of the artifact is no part of the catalog, because of its path or include.
func (p CatalogLocation) Excludes(path string) bool {
	_, isPart := located{CatalogLocation: p}.name(path)
	return !isPart && CheckInclude(p.Include) == nil
}

// checkPattern refuses what doublestar takes for alternatives in braces, whose number grows exponentially.
func checkPattern(pattern string) error {
	if strings.ContainsAny(pattern, `{}\`) || !doublestar.ValidatePattern(pattern) {
		return fmt.Errorf("include: %q is not a pattern: want *, **, ? and [a-z] in a relative path", pattern)
	}
	return nil
}

// skip returns the archive.Skip for the files that the catalog does not need. It notes a large file.
func (l located) skip(found *large) archive.Skip {
	return func(path string, size int64) bool {
		found.note(path, size)
		return !l.needs(path)
	}
}

// needs reports whether the catalog needs the content of a file.
func (l located) needs(path string) bool {
	name, ok := l.name(path)
	return ok && catalog.Needs(l.format, name)
}

// name returns the path of a file of the artifact in the catalog, and reports whether it is part of it.
func (l located) name(path string) (string, bool) {
	if l.Path != "" && l.Path != "." {
		below, ok := strings.CutPrefix(path, l.Path+"/")
		if !ok {
			return "", false
		}
		path = below
	}
	return path, len(l.Include) == 0 || slices.ContainsFunc(l.Include, func(pattern string) bool {
		return doublestar.MatchUnvalidated(pattern, path)
	})
}

// load loads the catalog from the files of the artifact.
func (l located) load(ctx context.Context, files *tree.Tree, found large, cache *catalog.ParseCache) (c *catalog.Catalog, err error) {
	if files, err = l.files(files); err != nil {
		return nil, err
	}
	format, fsys := l.format, files.FS()
	if format == nil {
		if format, err = catalog.Detect(fsys); err != nil {
			return nil, refusal.Classify(l.source, err)
		}
		if hasOthers(files, format) {
			same := func(path string) (string, bool) { return path, true }
			if files, err = files.Copy(same, format.Needs); err != nil {
				return nil, err
			}
			fsys = files.FS()
		}
	}
	if err := found.check(format); err != nil {
		return nil, refusal.Classify(l.source, err)
	}
	load := catalog.LoadCached
	if l.format != nil {
		load = catalog.LoadAs
	}
	if c, err = load(ctx, format, fsys, cache); err != nil {
		return nil, refusal.Classify(l.source, err)
	}
	c.Digest = files.Digest()
	if format != (catalog.Applications{}) {
		// The same files are another catalog in another format. Records of older controllers have the plain digest.
		c.Digest = digest.FromString(format.Name() + " " + c.Digest).String()
	}
	return c, nil
}

// hasOthers reports whether a file has content that a format does not need.
func hasOthers(files *tree.Tree, format catalog.Format) bool {
	return slices.ContainsFunc(files.Paths(), func(path string) bool {
		content, _ := files.Content(path)
		return len(content) > 0 && !format.Needs(path)
	})
}

// FilesAt returns the files of an artifact that are part of the catalog at a place, and its format, nil if the
// content decides.
func FilesAt(source string, files *tree.Tree, place CatalogLocation) (*tree.Tree, catalog.Format, error) {
	located, err := place.locate(source)
	if err != nil {
		return nil, nil, err
	}
	if files, err = located.files(files); err != nil {
		return nil, nil, err
	}
	return files, located.format, refusal.Classify(source, checkLarge(files, located.format))
}

// files returns the files of an artifact that are part of the catalog.
func (l located) files(all *tree.Tree) (*tree.Tree, error) {
	invalid := func(format string, args ...any) error {
		return &refusal.Error{Code: v1alpha1.InvalidCatalogReason, Source: l.source, Err: fmt.Errorf(format, args...)}
	}
	all, err := seal.Removed(all) // the source may be an artifact of Winnow
	if err != nil || l.Path == "" && len(l.Include) == 0 {
		return all, err
	}
	if l.Path != "" {
		if info, err := fs.Stat(all.FS(), l.Path); err != nil || !info.IsDir() {
			return nil, invalid("the artifact has no directory %q", l.Path)
		}
	}
	files, err := all.Copy(l.name, nil)
	if err == nil && files.Len() == 0 && len(l.Include) > 0 {
		return nil, invalid("include: no file has a path as in %q", l.Include)
	}
	return files, err
}
