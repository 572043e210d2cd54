// SPDX-License-Identifier: Apache-2.0

package catalog

import "github.com/winnow-dev/winnow/render/catalog/violation"

// Catalog is a valid catalog. It is immutable once loaded and safe for concurrent use.
type Catalog struct {
	// Applications of the catalog, sorted by name; no name occurs twice.
	Applications []*Application
	// Lists are the named lists of catalogs/<name>/metadata.yaml: application names in the
	// order of the file. Every name is that of an application.
	Lists map[string][]string
	// Warnings are what the catalog should say, and does not; a strict check refuses it for them.
	Warnings []violation.Violation
	// Digest of all files that were loaded, <algorithm>:<hex>; empty where the loader does not say.
	Digest string

	kept int64 // bytes of memory besides the documents
}
