// Package diff says what a change of catalogs, or of a CatalogSelection, does to the artifact:
// application by application and version by version, and what the safeguards will hold.
//
// It is pure: two renders go in, a Report comes out, the same for the same renders. It must not
// know where catalogs and selections come from, nor how a report is printed.
package diff
