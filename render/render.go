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
	"github.com/winnow-dev/winnow/render/contents"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/loading"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/options"
	"github.com/winnow-dev/winnow/render/placeholder"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/seal"
	"github.com/winnow-dev/winnow/render/selection"
)

// Error is returned for an input that cannot be rendered, by all that reads an input: those who branch on it need not know
// the package.
type Error = refusal.Error

// Place is the part of an artifact that is a catalog.
type Place = loading.Place

// PlaceOf returns the place that the spec says.
func PlaceOf(ref v1alpha1.SourceReference) Place { return loading.PlaceOf(ref) }

// LoadArchive reads the catalog at a place of a tar.gz archive, as loading.Archive does: whoever renders needs one import.
func LoadArchive(ctx context.Context, source string, r io.Reader, place Place) (*catalog.Catalog, error) {
	return loading.Archive(ctx, source, r, place)
}

// LoadFS is LoadArchive for a directory, with the same limits.
func LoadFS(ctx context.Context, source string, fsys fs.FS, place Place) (*catalog.Catalog, error) {
	return loading.FS(ctx, source, fsys, place)
}

// Entries returns the names of all entries that the root of an artifact may have.
func Entries() []string {
	return []string{ApplicationsDir, installation.Dir, catalog.PackagesDir, path.Dir(catalog.FunctionsFile), KustomizationFile, placeholder.File}
}

// Options are the parts of a spec that the artifact depends on: all that Render needs besides the sources.
type Options = options.Options

// FromSpec is the one mapping from a CatalogSelection to Options, for controller and command line alike. The error is an
// *Error with the reason InvalidSpec and all violations.
func FromSpec(cs *v1alpha1.CatalogSelection) (Options, error) { return options.FromSpec(cs) }

// Render selects applications from the sources, which are in order of precedence, transforms their
// documents, and assembles the artifact. If it selects none, and the options do not allow that, the
// error is an *Error with the reason EmptyResult.
func Render(ctx context.Context, sources []selection.Source, opts Options) (_ *Result, err error) {
	defer refusal.Recover("", "rendering", &err)
	selected, err := Decide(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	resolved, unresolved := instance.Resolve(opts.Instances, selected)
	if err := notEmpty(selected, resolved, unresolved, opts); err != nil {
		return nil, err
	}
	objects, others := contents.Separate(selected.Applications())
	documents, err := transformAll(ctx, objects, opts)
	if err != nil {
		return nil, err
	}
	if err := allMirrored(documents, others, opts); err != nil {
		return nil, err
	}
	installed, err := install(ctx, resolved, objects, documents, opts)
	if err != nil {
		return nil, err
	}
	result := &Result{
		Selection: selected, Addresses: addresses(documents), Unresolved: unresolved,
		Unmatched: mention.UnmatchedIn(sources, opts.Mentions, selected.Decisions, mentionedIn(documents)),
	}
	result.Unmatched = append(result.Unmatched, mention.UnmatchedInstances(unresolved)...)
	if opts.OmitDefinitions {
		objects, others, documents = nil, nil, nil
	}
	defined := definitions(objects, documents)
	result.Contents = contents.Definitions(others)
	catalogs, err := servedCatalog(ctx, others, opts)
	if err != nil {
		return nil, err
	}
	for _, object := range catalogs {
		result.Served = new(installation.KeyOf(object))
	}
	installed.Objects = append(installed.Objects, catalogs...)
	result.kustomization = kustomization(opts, defined, installed.Objects)
	result.kustomization.AllowEmpty = opts.AllowEmpty || len(others) > 0
	files, patched, err := assemble(ctx, selectedKeys(defined, installed.Objects), documents, installed.Objects, result.kustomization)
	if err == nil {
		err = contents.Add(ctx, files, others)
	}
	if err == nil {
		err = seal.Add(files)
	}
	if err != nil {
		return nil, err
	}
	result.Tree, result.Revision = files, RevisionPrefix+files.Digest()
	result.Definitions = asPatched(defined, patched)
	result.Instances = installed.Installed(patched)
	result.Supporting, result.Targets = installed.Supporting(), installed.Targets()
	if err := installation.DistinctReleases(result.Instances); err != nil {
		return nil, err
	}
	if err := distinctKinds(result.Definitions); err != nil {
		return nil, err
	}
	return result, nil
}

// install builds the instances that can be resolved.
func install(ctx context.Context, resolved []instance.Resolved, selected []selection.Decision, documents []document, opts options.Options) (installation.Installation, error) {
	if len(resolved) == 0 {
		return installation.Installation{}, nil
	}
	content := make(map[string][]byte, len(selected))
	published := make(map[string]safeguard.Definition, len(selected))
	for i, d := range selected {
		content[d.Application.Name] = documents[i].content
		published[d.Application.Name] = safeguard.Definition{Versions: d.Versions, Origins: documents[i].identity.Origins}
	}
	return installation.Build(ctx, resolved, installation.Input{
		Surroundings: instance.Surroundings{
			Selection: opts.Name,
			Document:  func(application string) []byte { return content[application] },
			Overrides: opts.OverridesOf, Access: opts.AccessTo,
		},
		AnnotateSource: opts.AnnotateSource,
		Origin:         func(application, version string) string { return published[application].OriginOf(version) },
	})
}

// mentionedIn returns what documents have of the names in the spec.
func mentionedIn(documents []document) []mention.Document {
	all := make([]mention.Document, len(documents))
	for i, d := range documents {
		all[i] = d.mentioned
	}
	return all
}
