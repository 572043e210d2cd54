package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
)

// readCatalog reads the files of a CATALOG, whether they are a valid catalog or not. locate
// returns how messages name one of its paths: for a directory, where the file is, and otherwise the path
// in it, behind its name unless it is alone.
func readCatalog(ctx context.Context, where string, alone, plainHTTP bool) (files *tree.Tree, locate func(string) string, err error) {
	locate = locateBehind(where)
	if alone {
		locate = func(path string) string { return path }
	}
	if strings.HasPrefix(where, ociScheme) {
		files, err = pullFiles(ctx, where, v1alpha1.FormatAuto, plainHTTP)
		return files, locate, refused(where, err)
	}
	info, err := os.Stat(where)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fmt.Errorf("no catalog at %s: want a directory, a .tar.gz file or %shost/repository", where, ociScheme)
	case err != nil:
		return nil, nil, err
	case info.IsDir():
		locate = locateIn(where)
		files, err = readDirectory(ctx, where)
	default:
		files, err = readArchive(ctx, where)
	}
	return files, locate, refused(where, err)
}

// locateIn returns where the paths of a directory's files are.
func locateIn(dir string) func(string) string {
	return func(path string) string { return filepath.ToSlash(filepath.Join(dir, filepath.FromSlash(path))) }
}

// locateBehind returns how a path in an archive or a registry is named beside those of other catalogs.
func locateBehind(where string) func(string) string {
	return func(path string) string { return where + "/" + path }
}

func readDirectory(ctx context.Context, where string) (*tree.Tree, error) {
	// os.Root keeps symbolic links from leading out of the catalog.
	root, err := os.OpenRoot(where)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return archive.ReadFS(ctx, root.FS(), archive.Limits{})
}

func readArchive(ctx context.Context, where string) (*tree.Tree, error) {
	file, err := os.Open(where)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return archive.Read(ctx, file, archive.Limits{})
}

func pullFiles(ctx context.Context, where, format string, plainHTTP bool) (*tree.Tree, error) {
	repository, err := newRepository(strings.TrimPrefix(where, ociScheme), plainHTTP)
	if err != nil {
		return nil, err
	}
	_, layer, err := pullLayer(ctx, repository, format)
	if err != nil {
		return nil, fmt.Errorf("pulling: %w", err)
	}
	return archive.Read(ctx, bytes.NewReader(layer), archive.Limits{})
}

// refused tells content that is at fault from what cannot be read.
func refused(where string, err error) error {
	var hostile *archive.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &hostile):
		return &render.Error{Code: v1alpha1.InvalidArchiveReason, Source: where, Err: err}
	}
	return fmt.Errorf("reading %s: %w", where, err)
}
