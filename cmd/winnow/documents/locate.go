// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"context"
	"fmt"
	"path/filepath"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/guard"
)

// Location is the catalog of a source of a selection, as a document names it.
type Location struct {
	// Address is oci://host/repository[:tag|@digest].
	Address string
	// SemVer is the range of versions whose highest tag is used, and SemverFilter a regular expression that tags match. The
	// address has no tag then.
	SemVer, SemverFilter string
	// PlainHTTP reports whether the document allows a connection without TLS.
	PlainHTTP bool
	// Document is the kind, namespace and name of the document, and File the file that contains it.
	Document, File string
	// Notes are sentences on fields of the document that are not evaluated.
	Notes []string
}

// NoDocumentError reports that no file has the document of a source.
type NoDocumentError struct{ name string }

// Error names the missing document.
func (e *NoDocumentError) Error() string {
	return "there is no " + e.name + " beside the selection"
}

// ReadFiles reads the documents of files unchanged, without a build. It skips documents that cannot be parsed.
func ReadFiles(ctx context.Context, files []File) *Set {
	r := &Set{}
	for _, file := range files {
		file.Path = filepath.ToSlash(file.Path)
		r.Read(ctx, file)
	}
	return r
}

// Locate returns the catalog of a source of a selection, as the OCIRepositories in the files name it.
func (r *Set) Locate(cs Selection, ref v1alpha1.SourceReference) (Location, error) {
	kind, key := guard.SourceKey(cs.CatalogSelection, ref)
	if kind != sourcev1.OCIRepositoryKind {
		return Location{}, fmt.Errorf("the catalog of a %s is not fetched here", kind)
	}
	nearest := r.Nearest(cs.Origin, kind, key)
	name := Qualified(kind, key.Namespace, key.Name)
	if len(nearest) == 0 {
		return Location{}, &NoDocumentError{name}
	}
	if err := SameDocument(nearest); err != nil {
		return Location{}, fmt.Errorf("%s: %w", name, err)
	}
	source := nearest[0]
	found, err := source.Reference()
	if err == nil {
		err = found.RequireVerified(ref)
	}
	if err != nil {
		return Location{}, fmt.Errorf("%s in %s: %w", name, source.File, err)
	}
	return Location{
		Address: found.Catalog, SemVer: found.SemVer, SemverFilter: found.SemverFilter, PlainHTTP: found.PlainHTTP, Notes: fieldNotes(found),
		Document: Qualified(source.Kind, source.Namespace, source.Name), File: source.File,
	}, nil
}

// fieldNotes returns sentences on the fields that Flux evaluates and that are not evaluated here.
func fieldNotes(r Reference) []string {
	var notes plaintext.Texts
	notes.Add(r.PlainHTTP, "it is insecure: its registry is contacted without TLS")
	notes.Add(r.Suspended, "it is suspended: Flux pulls nothing")
	notes.Add(r.Secrets, "its Secrets are not read: the credentials are Docker's, and --ca-file, --cert-file and HTTPS_PROXY serve for the rest")
	notes.Add(r.Ignore, "its spec.ignore is not evaluated here")
	notes.Add(r.Verified, "its signature is not verified here")
	return notes
}
