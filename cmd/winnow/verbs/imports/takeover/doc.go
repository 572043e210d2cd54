// SPDX-License-Identifier: Apache-2.0

// Package takeover makes instances of a CatalogSelection of what runs already: HelmReleases of Flux and
// ApplicationInstallations of KKP. It takes a release only if the artifact would have the same object, with the same
// release of Helm and the same chart, so that nothing is installed anew.
//
// It reads its arguments, and must not know clusters, files or flags. Its messages never quote a value of an object.
package takeover
