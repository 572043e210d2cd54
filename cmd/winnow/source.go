package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/selection"
)

// ociScheme begins a CATALOG in a registry.
const ociScheme = "oci://"

// openSources loads a catalog for every source of the selection, in its order. args are the
// values of the flag: CATALOG for a selection with one source, NAME=CATALOG otherwise.
func openSources(ctx context.Context, cs *v1alpha1.CatalogSelection, flag string, args []string, plainHTTP bool) ([]selection.Source, error) {
	catalogs, err := assignSources(cs, flag, args)
	if err != nil {
		return nil, err
	}
	sources := make([]selection.Source, len(catalogs))
	for i, where := range catalogs {
		ref := cs.Spec.Sources[i]
		source, err := openSource(ctx, where, ref, plainHTTP)
		if err != nil {
			return nil, err
		}
		source.Name = ref.Name
		sources[i] = source
	}
	return sources, nil
}

// assignSources returns the CATALOG of every source in the spec's order.
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

// openSource loads a CATALOG in the place of a source, of which the path and the format count. Errors
// name both CATALOG and path, where paths in them start. Only a registry knows the digest of a source,
// that of the manifest.
func openSource(ctx context.Context, where string, ref v1alpha1.SourceReference, plainHTTP bool) (selection.Source, error) {
	name, dir := where, ref.Path
	if dir != "" {
		name = fmt.Sprintf("%s (path %s)", where, dir)
	}
	if strings.HasPrefix(where, ociScheme) {
		return pullCatalog(ctx, where, name, ref, plainHTTP)
	}
	loaded, err := openFiles(ctx, where, name, dir)
	return selection.Source{Catalog: loaded}, err
}

func openFiles(ctx context.Context, where, name, dir string) (*catalog.Catalog, error) {
	info, err := os.Stat(where)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no catalog at %s: want a directory, a .tar.gz file or %shost/repository", where, ociScheme)
	}
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return openDirectory(ctx, where, name, dir)
	}
	file, err := os.Open(where)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return render.LoadArchive(ctx, name, file, dir)
}

func openDirectory(ctx context.Context, where, name, dir string) (*catalog.Catalog, error) {
	// os.Root keeps symbolic links from leading out of the catalog.
	root, err := os.OpenRoot(where)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return render.LoadFS(ctx, name, root.FS(), dir)
}
