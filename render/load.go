package render

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/tree"
)

// LoadArchive reads the catalog in the directory dir ("" is the root) of a tar.gz archive.
// The name of the source appears in errors. For invalid content the error is an *Error with the reason
// InvalidArchive or InvalidCatalog. Files that no catalog needs are checked, but not kept.
func LoadArchive(ctx context.Context, source string, r io.Reader, dir string) (*catalog.Catalog, error) {
	files, err := archive.ReadSome(ctx, r, archive.Limits{}, skipUnneeded(dir))
	if err != nil {
		return nil, classify(source, fmt.Errorf("reading archive: %w", err))
	}
	return load(ctx, source, files, dir)
}

// LoadFS is LoadArchive for a directory, with the same limits.
func LoadFS(ctx context.Context, source string, fsys fs.FS, dir string) (*catalog.Catalog, error) {
	files, err := archive.ReadSomeFS(ctx, fsys, archive.Limits{}, skipUnneeded(dir))
	if err != nil {
		return nil, classify(source, fmt.Errorf("reading directory: %w", err))
	}
	return load(ctx, source, files, dir)
}

// entryBytes bounds the memory that a file of an archive takes besides its path and its content: an
// entry of a tree and one of its file system.
const entryBytes = 512

// MeasureArchive reads an archive, keeps nothing of it, and returns the most bytes of memory that
// LoadArchive takes for it. For an invalid archive the error is the one of LoadArchive.
func MeasureArchive(ctx context.Context, source string, r io.Reader, dir string) (int64, error) {
	var cost catalog.Cost
	var paths int64
	files, err := archive.ReadSome(ctx, r, archive.Limits{}, func(path string, size int64) bool {
		if name, ok := below(dir, path); ok && catalog.Needs(name) {
			cost.Add(name, size)
		}
		paths += int64(len(path))
		return true
	})
	if err != nil {
		return 0, classify(source, fmt.Errorf("reading archive: %w", err))
	}
	return cost.Bytes() + paths + int64(files.Len())*entryBytes, nil
}

// skipUnneeded returns the archive.Skip for the files that the catalog in dir does not need.
func skipUnneeded(dir string) archive.Skip {
	return func(path string, _ int64) bool {
		name, ok := below(dir, path)
		return !ok || !catalog.Needs(name)
	}
}

// below returns path relative to the directory dir, and reports whether it is below dir.
func below(dir, path string) (string, bool) {
	if dir == "" || dir == "." {
		return path, true
	}
	return strings.CutPrefix(path, dir+"/")
}

func load(ctx context.Context, source string, files *tree.Tree, dir string) (*catalog.Catalog, error) {
	root := files.FS()
	if dir != "" {
		if !fs.ValidPath(dir) {
			return nil, &Error{Code: v1alpha1.InvalidSpecReason, Source: source,
				Err: fmt.Errorf("path %q is not a clean relative path", dir)}
		}
		info, err := fs.Stat(root, dir)
		if err != nil || !info.IsDir() {
			return nil, &Error{Code: v1alpha1.InvalidCatalogReason, Source: source,
				Err: fmt.Errorf("the artifact has no directory %q", dir)}
		}
		if root, err = fs.Sub(root, dir); err != nil {
			return nil, fmt.Errorf("opening %s: %w", dir, err)
		}
	}
	c, err := catalog.Load(ctx, root)
	if err != nil {
		return nil, classify(source, err)
	}
	c.Digest = digestBelow(files, dir)
	return c, nil
}

// digestBelow returns the digest of the files below a directory ("" is the root). It does not depend on
// the other files of an artifact.
func digestBelow(files *tree.Tree, dir string) string {
	if dir == "" {
		return files.Digest()
	}
	below := tree.New()
	for _, path := range files.Paths() {
		if name, ok := strings.CutPrefix(path, dir+"/"); ok {
			content, _ := files.Content(path)
			_ = below.Add(name, content) // a valid path stays valid without a prefix
		}
	}
	return below.Digest()
}
