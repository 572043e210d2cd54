// SPDX-License-Identifier: Apache-2.0

// Package diffview formats a comparison of CatalogSelections for a terminal and for the comment of a pull request,
// which is bounded and in which no text of a catalog becomes markup. It must not know the origin of the compared
// states: neither Git, registries nor clusters, and no flags.
package diffview
