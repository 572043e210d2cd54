// SPDX-License-Identifier: Apache-2.0

package input

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/loading"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/spelling"
	"github.com/winnow-dev/winnow/render/tree"
)

// OpenSources loads a catalog for every source of the selection, in the order of the spec. args are
// the values of the flag: CATALOG for a selection with one source, NAME=CATALOG otherwise.
func OpenSources(ctx context.Context, cs *v1alpha1.CatalogSelection, flag string, args []string, access *flags.Access) ([]selection.Source, error) {
	catalogs, err := AssignSources(cs, flag, args)
	if err != nil {
		return nil, err
	}
	sources := make([]selection.Source, len(catalogs))
	for i, where := range catalogs {
		ref := cs.Spec.Sources[i]
		source, err := OpenSource(ctx, where, ref, access)
		if err != nil {
			return nil, err
		}
		source.Name = ref.Name
		sources[i] = source
	}
	return sources, nil
}

// AssignSources returns the CATALOG of every source, in the order of the spec.
func AssignSources(cs *v1alpha1.CatalogSelection, flag string, args []string) ([]string, error) {
	names := each.Map(cs.Spec.Sources, func(source v1alpha1.SourceReference) string { return source.Name })
	if len(names) == 1 && len(args) == 1 {
		where := strings.TrimPrefix(args[0], names[0]+"=")
		name, _, isNamed := strings.Cut(where, "=")
		_, err := os.Stat(where)
		if near := spelling.Nearest(name, names); isNamed && len(near) > 0 && errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s %s: the selection has no source %s: did you mean %s?", flag, where, name, near[0])
		}
		return []string{where}, nil
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

// OpenSource loads a CATALOG as the source ref, using the path and the format of ref. Errors name both the CATALOG and the
// path, because paths in errors are relative to it. Only a source from a registry has a digest: the digest of the manifest.
func OpenSource(ctx context.Context, where string, ref v1alpha1.SourceReference, access *flags.Access) (selection.Source, error) {
	name := where
	if ref.Path != "" {
		name = fmt.Sprintf("%s (path %s)", where, ref.Path)
	}
	opened, err := OpenCatalog(where, ref.Format, access)
	if err != nil {
		return selection.Source{}, err
	}
	return opened.Load(ctx, name, render.LocationOf(ref))
}

// OpenedCatalog reads the content of a CATALOG.
type OpenedCatalog interface {
	// Files reads all files, within limits, and does not check that they are a valid catalog. Of a directory it leaves out links that
	// are not at the place, as Flux leaves all links out of artifacts.
	Files(ctx context.Context, limits archive.Limits, place render.CatalogLocation) (*tree.Tree, error)
	// Load loads the catalog at a place in the files. Errors refer to it by name.
	Load(ctx context.Context, name string, place render.CatalogLocation) (selection.Source, error)
}

// ErrNoCatalog reports that there is nothing at the place of a CATALOG.
var ErrNoCatalog = errors.New("no catalog")

// OpenCatalog opens a CATALOG: a directory, a .tar.gz file, or an artifact of the format in a registry.
// It reads no content yet.
func OpenCatalog(where, format string, access *flags.Access) (OpenedCatalog, error) {
	if strings.HasPrefix(where, oci.Scheme) {
		return artifact{where, format, access}, nil
	}
	info, err := os.Stat(where)
	switch {
	case errors.Is(err, fs.ErrNotExist) && oci.Meant(where) != "":
		return nil, fmt.Errorf("%w at %s: did you mean %s?", ErrNoCatalog, where, oci.Meant(where))
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w at %s: want a directory, a .tar.gz file or %shost/repository%s", ErrNoCatalog, where, oci.Scheme, access.PlainAdvice(where))
	case err != nil:
		return nil, err
	case info.IsDir():
		return Directory(where), nil
	}
	return archiveFile(where), nil
}

// Directory is the path of a CATALOG. It is read through os.Root, so no symbolic link leads out of it.
type Directory string

// Files is part of OpenedCatalog.
func (d Directory) Files(ctx context.Context, limits archive.Limits, place render.CatalogLocation) (*tree.Tree, error) {
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return archive.ReadSomeFS(ctx, root.FS(), limits, nil, place.Excludes)
}

// Load is part of OpenedCatalog.
func (d Directory) Load(ctx context.Context, name string, place render.CatalogLocation) (selection.Source, error) {
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return selection.Source{}, err
	}
	defer root.Close()
	loaded, err := render.LoadFS(ctx, name, root.FS(), place)
	if below := catalogBelow(root.FS()); err != nil && below != "" {
		err = fmt.Errorf("%w; %s has a catalog: name that directory, if it is meant", err, d.Locate(below))
	}
	return selection.Source{Catalog: loaded}, err
}

// catalogBelow returns a directory at most two levels below a root that is no catalog, and is one of Applications; empty without one.
func catalogBelow(fsys fs.FS) string {
	const file = "applications/*/metadata.yaml"
	if found, _ := fs.Glob(fsys, file); len(found) > 0 {
		return ""
	}
	for _, pattern := range []string{"*/" + file, "*/*/" + file} {
		if found, _ := fs.Glob(fsys, pattern); len(found) > 0 {
			return path.Dir(path.Dir(path.Dir(found[0])))
		}
	}
	return ""
}

// Locate returns the path of a file of the catalog, joined to the directory.
func (d Directory) Locate(path string) string {
	return filepath.ToSlash(filepath.Join(string(d), filepath.FromSlash(path)))
}

// artifact is a CATALOG in a registry.
type artifact struct {
	where, format string
	access        *flags.Access
}

func (a artifact) connect(ctx context.Context) (*oci.Repository, error) {
	reference, err := oci.ParseReference(a.where)
	if err != nil {
		return nil, err
	}
	return a.access.Connect(ctx, reference, nil)
}

func (a artifact) Files(ctx context.Context, limits archive.Limits, _ render.CatalogLocation) (*tree.Tree, error) {
	repository, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	pulled, err := repository.Pull(ctx, a.format)
	if err != nil {
		return nil, fmt.Errorf("pulling: %w", err)
	}
	if pulled.Format == v1alpha1.FormatFileBased {
		limits = loading.LimitsOf(pulled.Format)
	}
	return archive.Read(ctx, bytes.NewReader(pulled.Layer), limits)
}

func (a artifact) Load(ctx context.Context, name string, place render.CatalogLocation) (selection.Source, error) {
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
	return selection.Source{Digest: pulled.Digest, Catalog: loaded, Note: pulled.Note}, err
}

// ReadFiles reads the files of an opened CATALOG. It returns errors as ArchiveError does.
func ReadFiles(ctx context.Context, where string, opened OpenedCatalog, limits archive.Limits, place render.CatalogLocation) (*tree.Tree, error) {
	files, err := opened.Files(ctx, limits, place)
	return files, ArchiveError(where, err)
}

// ArchiveError returns a *render.Error if the content of a CATALOG is invalid, and a plain error if it cannot be read.
func ArchiveError(where string, err error) error {
	var hostile *archive.Error
	var refused *render.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return err
	case errors.As(err, &hostile):
		return &render.Error{Code: v1alpha1.InvalidArchiveReason, Source: where, Err: err}
	}
	return fmt.Errorf("reading %s: %w", where, err)
}

// compressed returns the content of the file. A file that is not compressed by gzip is an error that describes what it is, and
// what to pass instead.
func (a archiveFile) compressed(file io.Reader) (io.Reader, error) {
	content := bufio.NewReaderSize(file, maxSniffed)
	magic, err := content.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return content, nil
	}
	first, err := content.Peek(maxSniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return nil, &render.Error{Code: v1alpha1.InvalidArchiveReason, Source: string(a), Err: errors.New(a.mistaken(first))}
}

// mistaken describes a file that is no archive by its first bytes.
func (a archiveFile) mistaken(first []byte) string {
	const want = "want a directory, a .tar.gz file or " + oci.Scheme + "host/repository"
	_, notTar := tar.NewReader(bytes.NewReader(first)).Next()
	kind := manifestKind.FindSubmatch(first)
	switch {
	case len(first) == 0:
		return "it is empty: " + want
	case bytes.HasPrefix(first, []byte("PK\x03\x04")):
		return "it is a zip archive: unpack it, and pass the directory"
	case notTar == nil:
		return fmt.Sprintf("it is a tar archive without gzip: gzip %s, and pass %s.gz", a, a)
	case bytes.IndexByte(first, 0) >= 0, kind == nil:
		return "it is no .tar.gz file: " + want
	case string(kind[1]) == v1alpha1.CatalogSelectionKind:
		return fmt.Sprintf("it is a %s, which -f takes, and no catalog: -f %s", kind[1], a)
	}
	return fmt.Sprintf("it is a manifest of kind %s, and no catalog: pass the directory of the catalog, or a .tar.gz of it", plaintext.Brief(string(kind[1]), 80))
}

// archiveFile is the path of a CATALOG in a .tar.gz file.
type archiveFile string

// manifestKind finds the kind of a manifest in YAML or JSON.
var manifestKind = regexp.MustCompile(`(?m)^[ \t]*["']?kind["']?[ \t]*:[ \t]*["']?([A-Za-z]+)`)

// maxSniffed is how much of a file tells what it is: a selection may have a comment above.
const maxSniffed = 64 << 10

func (a archiveFile) Files(ctx context.Context, limits archive.Limits, _ render.CatalogLocation) (*tree.Tree, error) {
	return files.Read(ctx, string(a), nil, func(file io.Reader) (*tree.Tree, error) {
		content, err := a.compressed(file)
		if err != nil {
			return nil, err
		}
		return archive.Read(ctx, content, limits)
	})
}

func (a archiveFile) Load(ctx context.Context, name string, place render.CatalogLocation) (selection.Source, error) {
	return files.Read(ctx, string(a), nil, func(file io.Reader) (selection.Source, error) {
		content, err := a.compressed(file)
		if err != nil {
			return selection.Source{}, err
		}
		loaded, err := render.LoadArchive(ctx, name, content, place)
		return selection.Source{Catalog: loaded}, err
	})
}
