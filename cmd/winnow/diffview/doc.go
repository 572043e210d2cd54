// Package diffview shows what a change does to CatalogSelections: on a terminal, and in the comment of a pull request,
// which is bounded and in which nothing of a catalog becomes markup. It must not know where the compared states come
// from: neither Git, registries nor clusters, and no flags.
package diffview
