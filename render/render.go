// SPDX-License-Identifier: Apache-2.0

// Package render turns catalogs and the options of a CatalogSelection into the artifact that
// Flux applies: a tree of files, its revision, and the decision for every application.
//
// It is pure: the result is a function of the catalogs' bytes and the options. It knows no
// clock, environment, network, logger or Kubernetes client, so that the command line previews
// the very bytes that the controller publishes.
package render

import (
	"context"
	"io"
	"io/fs"
	"path"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/loading"
	"github.com/winnow-dev/winnow/render/options"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/selection"
)

// Error is returned for an input that cannot be rendered, by all that reads an input: those who branch on it need not know
// the package.
type Error = refusal.Error

// CatalogLocation is the part of an artifact that is a catalog.
type CatalogLocation = loading.CatalogLocation

// LocationOf returns the location that the spec says.
func LocationOf(ref v1alpha1.SourceReference) CatalogLocation { return loading.LocationOf(ref) }

// LoadArchive reads the catalog at a place of a tar.gz archive, as loading.Archive does: callers that render need one import.
func LoadArchive(ctx context.Context, source string, r io.Reader, place CatalogLocation) (*catalog.Catalog, error) {
	return loading.Archive(ctx, source, r, place)
}

// LoadRevision is LoadArchive for another revision of a catalog, which was loaded before, nil for none: what has not changed
// is not parsed again.
func LoadRevision(
	ctx context.Context, source string, r io.Reader, place CatalogLocation, before *catalog.Catalog,
) (*catalog.Catalog, error) {
	return loading.Revision(ctx, source, r, place, before)
}

// LoadFS is LoadArchive for a directory, with the same limits.
func LoadFS(ctx context.Context, source string, fsys fs.FS, place CatalogLocation) (*catalog.Catalog, error) {
	return loading.FS(ctx, source, fsys, place)
}

// Entries returns the names of all entries that the root of an artifact may have.
func Entries() []string {
	return []string{ApplicationsDir, installation.Dir, catalog.PackagesDir, path.Dir(catalog.FunctionsFile), KustomizationFile, placeholders}
}

// Options are the parts of a spec that the artifact depends on: all that Render needs besides the sources.
type Options = options.Options

// FromSpec is the one mapping from a CatalogSelection to Options, for controller and command line alike. The error is an
// *Error with the reason InvalidSpec and all violations.
func FromSpec(cs *v1alpha1.CatalogSelection) (Options, error) { return options.FromSpec(cs) }

// Render selects applications from the sources, which are in order of precedence, transforms their
// documents, and assembles the artifact. If it selects none, and the options do not allow that, the
// error is an *Error with the reason EmptyResult.
func Render(ctx context.Context, sources []selection.Source, opts Options) (*Result, error) {
	return InPhases(ctx, sources, opts, func(Phase) {})
}

// Phase is a part of a render.
type Phase string

// The phases, in order.
const (
	Select    Phase = "select"
	Transform Phase = "transform"
	Assemble  Phase = "assemble"
)

// InPhases is Render for callers that time it: it calls begin before each phase. Nothing comes back from begin.
func InPhases(ctx context.Context, sources []selection.Source, opts Options, begin func(Phase)) (_ *Result, err error) {
	defer refusal.Recover("", "rendering", &err)
	begin(Select)
	selected, err := selectFrom(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	begin(Transform)
	transformed, err := transformSelected(ctx, selected)
	if err != nil {
		return nil, err
	}
	begin(Assemble)
	return assemble(ctx, transformed)
}
