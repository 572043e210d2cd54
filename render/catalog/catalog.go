// SPDX-License-Identifier: Apache-2.0

// Package catalog loads and validates the catalogs that applications are selected from: an fs.FS
// goes in, a Catalog or the list of everything that is wrong with it comes out.
//
// format.go lists the formats; each is one file, or a folder, and loader.go has what they share. Packages below read and
// check the documents. The input is untrusted: sizes, nesting and YAML aliases are bounded before anything is expanded.
//
// The package must not know selections, archives, the network or Kubernetes clients.
package catalog

import "github.com/winnow-dev/winnow/render/catalog/violation"

// Catalog is a valid catalog. It is immutable once loaded and safe for concurrent use.
type Catalog struct {
	// Applications of the catalog, sorted by name; no name occurs twice.
	Applications []*Application
	// Lists are the named lists of catalogs/<name>/metadata.yaml: application names in the order of
	// the file. Each names an application of the catalog.
	Lists map[string][]string
	// Warnings are what the catalog should say, and does not; a strict check refuses it for them.
	Warnings []violation.Violation
	// Digest of all files that were loaded, <algorithm>:<hex>; empty where the loader does not say.
	Digest string

	kept int64 // bytes of memory besides the documents
	// files are what parsing found in the files of each application, in their order; nil for a format that is not cached.
	files  []parsedFiles
	parsed int64
}

// Parsed returns the number of documents that were parsed to load a catalog of the format Applications or Definitions.
// Those that were known are not among them.
func (c *Catalog) Parsed() int64 { return c.parsed }

// parsedFiles is what was found by parsing the files of an application, besides the application.
type parsedFiles struct {
	// nameLine is the line of metadata.name in the document, and aliased what its aliases add.
	nameLine, aliased int
	// metadata is the metadata.yaml, nil without one.
	metadata *metadataFile
}
