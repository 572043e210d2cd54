// SPDX-License-Identifier: Apache-2.0

// Package documents reads CatalogSelections, and the sources and Kustomizations beside them, from files or from what a commit applies,
// each with its place. It resolves references between them, finds the catalogs of sources, and warns of what does not fit together. It
// must not open catalogs, compare commits or render.
package documents
