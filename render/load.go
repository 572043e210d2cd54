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
// The name of the source appears in errors. What is wrong with the content is an *Error with
// the reason InvalidArchive or InvalidCatalog. What no catalog needs is checked, but not kept.
func LoadArchive(ctx context.Context, source string, r io.Reader, dir string) (*catalog.Catalog, error) {
	files, err := archive.ReadSome(ctx, r, archive.Limits{}, useless(dir))
	if err != nil {
		return nil, classify(source, fmt.Errorf("reading archive: %w", err))
	}
	return load(ctx, source, files, dir)
}

// LoadFS is LoadArchive for a directory. The same limits hold.
func LoadFS(ctx context.Context, source string, fsys fs.FS, dir string) (*catalog.Catalog, error) {
	files, err := archive.ReadSomeFS(ctx, fsys, archive.Limits{}, useless(dir))
	if err != nil {
		return nil, classify(source, fmt.Errorf("reading directory: %w", err))
	}
	return load(ctx, source, files, dir)
}

// entryBytes is what a file of an archive takes at most besides its path and its content: an entry
// of a tree and one of its file system.
const entryBytes = 512

// MeasureArchive reads an archive, keeps nothing of it, and returns how many bytes of memory
// LoadArchive takes at most for it. The error is that of LoadArchive, if it concerns the archive.
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

// useless returns what nobody needs of a catalog in dir.
func useless(dir string) archive.Skip {
	return func(path string, _ int64) bool {
		name, ok := below(dir, path)
		return !ok || !catalog.Needs(name)
	}
}

// below returns the path from the directory dir, and whether it is below that.
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

// digestBelow returns the digest of the files below a directory ("" is the root), which does not
// depend on what else an artifact holds.
func digestBelow(files *tree.Tree, dir string) string {
	if dir == "" {
		return files.Digest()
	}
	below := tree.New()
	for _, path := range files.Paths() {
		if name, ok := strings.CutPrefix(path, dir+"/"); ok {
			content, _ := files.Content(path)
			_ = below.Add(name, content) // the paths of a tree are good, and so are they without a prefix
		}
	}
	return below.Digest()
}
