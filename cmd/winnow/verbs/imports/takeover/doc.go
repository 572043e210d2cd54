// Package takeover makes instances of a CatalogSelection of what runs already: HelmReleases of Flux and
// ApplicationInstallations of KKP. An instance is taken only if the artifact would have the same object, with the same
// release of Helm and the same chart, so that nothing is installed anew.
//
// It reads the objects that it is given, and must not know clusters, files or flags. What it states about an object never
// quotes a value of it.
package takeover
