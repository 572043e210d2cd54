// Package diff reports how a change of catalogs, or of a CatalogSelection, changes the artifact, by
// application and version, and which of these changes the safeguards will hold.
//
// It is pure: the same two renders give the same Report. It must not know where catalogs and selections
// come from, nor how a report is printed.
package diff
