package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/tree"
)

// openSources loads a catalog for every source of the selection, in the order of the spec. args are
// the values of the flag: CATALOG for a selection with one source, NAME=CATALOG otherwise.
func openSources(ctx context.Context, cs *v1alpha1.CatalogSelection, flag string, args []string, access *accessOptions) ([]selection.Source, error) {
	catalogs, err := assignSources(cs, flag, args)
	if err != nil {
		return nil, err
	}
	sources := make([]selection.Source, len(catalogs))
	for i, where := range catalogs {
		ref := cs.Spec.Sources[i]
		source, err := openSource(ctx, where, ref, access)
		if err != nil {
			return nil, err
		}
		source.Name = ref.Name
		sources[i] = source
	}
	return sources, nil
}

// assignSources returns the CATALOG of every source, in the order of the spec.
func assignSources(cs *v1alpha1.CatalogSelection, flag string, args []string) ([]string, error) {
	names := make([]string, len(cs.Spec.Sources))
	for i, source := range cs.Spec.Sources {
		names[i] = source.Name
	}
	if len(names) == 1 && len(args) == 1 {
		return []string{strings.TrimPrefix(args[0], names[0]+"=")}, nil
	}
	catalogs := make([]string, len(names))
	for _, arg := range args {
		name, where, ok := strings.Cut(arg, "=")
		if !ok || !slices.Contains(names, name) {
			return nil, fmt.Errorf("%s %s: want NAME=CATALOG with one of the sources %s", flag, arg, strings.Join(names, ", "))
		}
		for i := range names {
			if names[i] != name {
				continue
			}
			if catalogs[i] != "" {
				return nil, fmt.Errorf("%s %s: the source %s has a catalog already: %s", flag, arg, name, catalogs[i])
			}
			catalogs[i] = where
		}
	}
	for i, where := range catalogs {
		if where == "" {
			return nil, fmt.Errorf("the selection's source %s has no catalog: add %s %s=CATALOG", names[i], flag, names[i])
		}
	}
	return catalogs, nil
}

// openSource loads a CATALOG as the source ref, of which it uses the path and the format. Errors name both
// the CATALOG and the path, because paths in errors are relative to it. Only a source from a registry has a
// digest, that of the manifest.
func openSource(ctx context.Context, where string, ref v1alpha1.SourceReference, access *accessOptions) (selection.Source, error) {
	name := where
	if ref.Path != "" {
		name = fmt.Sprintf("%s (path %s)", where, ref.Path)
	}
	opened, err := openCatalog(where, ref.Format, access)
	if err != nil {
		return selection.Source{}, err
	}
	return opened.load(ctx, name, render.PlaceOf(ref))
}

// openedCatalog reads the content of a CATALOG.
type openedCatalog interface {
	// files reads all files, within limits, and does not check that they are a valid catalog.
	files(ctx context.Context, limits archive.Limits) (*tree.Tree, error)
	// load loads the catalog at a place in the files. Errors refer to it by name.
	load(ctx context.Context, name string, place render.Place) (selection.Source, error)
}

var errNoCatalog = errors.New("no catalog")

// openCatalog opens a CATALOG: a directory, a .tar.gz file, or an artifact of the format in a registry.
// It reads no content yet.
func openCatalog(where, format string, access *accessOptions) (openedCatalog, error) {
	if strings.HasPrefix(where, oci.Scheme) {
		return artifact{where, format, access}, nil
	}
	info, err := os.Stat(where)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w at %s: want a directory, a .tar.gz file or %shost/repository", errNoCatalog, where, oci.Scheme)
	case err != nil:
		return nil, err
	case info.IsDir():
		return directory(where), nil
	}
	return archiveFile(where), nil
}

// directory is the path of a CATALOG. It is read through os.Root, so no symbolic link leads out of it.
type directory string

func (d directory) files(ctx context.Context, limits archive.Limits) (*tree.Tree, error) {
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return archive.ReadFS(ctx, root.FS(), limits)
}

func (d directory) load(ctx context.Context, name string, place render.Place) (selection.Source, error) {
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return selection.Source{}, err
	}
	defer root.Close()
	loaded, err := render.LoadFS(ctx, name, root.FS(), place)
	return selection.Source{Catalog: loaded}, err
}

// locate returns the path of a file of the catalog, joined to the directory.
func (d directory) locate(path string) string {
	return filepath.ToSlash(filepath.Join(string(d), filepath.FromSlash(path)))
}

// archiveFile is the path of a CATALOG in a .tar.gz file.
type archiveFile string

func (a archiveFile) files(ctx context.Context, limits archive.Limits) (*tree.Tree, error) {
	return readFile(ctx, string(a), nil, func(file io.Reader) (*tree.Tree, error) {
		return archive.Read(ctx, file, limits)
	})
}

func (a archiveFile) load(ctx context.Context, name string, place render.Place) (selection.Source, error) {
	return readFile(ctx, string(a), nil, func(file io.Reader) (selection.Source, error) {
		loaded, err := render.LoadArchive(ctx, name, file, place)
		return selection.Source{Catalog: loaded}, err
	})
}

// artifact is a CATALOG in a registry.
type artifact struct {
	where, format string
	access        *accessOptions
}

func (a artifact) connect(ctx context.Context) (*oci.Repository, error) {
	reference, err := oci.ParseReference(a.where)
	if err != nil {
		return nil, err
	}
	access, err := a.access.open(ctx)
	if err != nil {
		return nil, err
	}
	return oci.Connect(reference, access, nil)
}

func (a artifact) files(ctx context.Context, limits archive.Limits) (*tree.Tree, error) {
	repository, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	pulled, err := repository.Pull(ctx, a.format)
	if err != nil {
		return nil, fmt.Errorf("pulling: %w", err)
	}
	if pulled.Format == v1alpha1.FormatFileBased {
		limits = render.LimitsOf(pulled.Format)
	}
	return archive.Read(ctx, bytes.NewReader(pulled.Layer), limits)
}

func (a artifact) load(ctx context.Context, name string, place render.Place) (selection.Source, error) {
	repository, err := a.connect(ctx)
	if err != nil {
		return selection.Source{}, fmt.Errorf("%s: %w", a.where, err)
	}
	pulled, err := repository.Pull(ctx, a.format)
	if err != nil {
		return selection.Source{}, fmt.Errorf("pulling %s: %w", a.where, err)
	}
	place.Format = pulled.Format
	loaded, err := render.LoadArchive(ctx, name, bytes.NewReader(pulled.Layer), place)
	return selection.Source{Digest: pulled.Digest, Catalog: loaded}, err
}

// readFiles reads the files of an opened CATALOG. It returns errors as archiveError does.
func readFiles(ctx context.Context, where string, opened openedCatalog, limits archive.Limits) (*tree.Tree, error) {
	files, err := opened.files(ctx, limits)
	return files, archiveError(where, err)
}

// archiveError returns a *render.Error if the content of a CATALOG is invalid, and a plain error if it cannot be read.
func archiveError(where string, err error) error {
	var hostile *archive.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &hostile):
		return &render.Error{Code: v1alpha1.InvalidArchiveReason, Source: where, Err: err}
	}
	return fmt.Errorf("reading %s: %w", where, err)
}
