// Package selections compares the CatalogSelections that two commits of a GitOps repository have: it pairs them, finds
// the sources that they name among what the commits apply, and compares what both states render. It must not know how
// catalogs are opened nor what lives in a cluster, which its caller does.
package selections
