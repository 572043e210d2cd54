// SPDX-License-Identifier: Apache-2.0

// Package revision reads the CatalogSelections, sources and Kustomizations that a commit has, each with its place in the
// repository, and resolves references between them. It must not compare commits, open catalogs or render.
package revision
