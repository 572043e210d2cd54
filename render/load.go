package render

import (
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/tree"
)

// LoadArchive reads the catalog in the directory dir ("" is the root) of a tar.gz archive.
// The name of the source appears in errors. What is wrong with the content is an *Error with
// the reason InvalidArchive or InvalidCatalog.
func LoadArchive(ctx context.Context, source string, r io.Reader, dir string) (*catalog.Catalog, error) {
	files, err := archive.Read(ctx, r, archive.Limits{})
	if err != nil {
		return nil, classify(source, fmt.Errorf("reading archive: %w", err))
	}
	return load(ctx, source, files, dir)
}

// LoadFS is LoadArchive for a directory. The same limits hold.
func LoadFS(ctx context.Context, source string, fsys fs.FS, dir string) (*catalog.Catalog, error) {
	files, err := archive.ReadFS(ctx, fsys, archive.Limits{})
	if err != nil {
		return nil, classify(source, fmt.Errorf("reading directory: %w", err))
	}
	return load(ctx, source, files, dir)
}

func load(ctx context.Context, source string, files *tree.Tree, dir string) (*catalog.Catalog, error) {
	root := files.FS()
	if dir != "" {
		if !fs.ValidPath(dir) {
			return nil, &Error{Reason: v1alpha1.InvalidSpecReason, Source: source,
				Err: fmt.Errorf("path %q is not a clean relative path", dir)}
		}
		info, err := fs.Stat(root, dir)
		if err != nil || !info.IsDir() {
			return nil, &Error{Reason: v1alpha1.InvalidCatalogReason, Source: source,
				Err: fmt.Errorf("the artifact has no directory %q", dir)}
		}
		if root, err = fs.Sub(root, dir); err != nil {
			return nil, fmt.Errorf("opening %s: %w", dir, err)
		}
	}
	c, err := catalog.Load(ctx, root)
	return c, classify(source, err)
}
