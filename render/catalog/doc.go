// SPDX-License-Identifier: Apache-2.0

// Package catalog loads and validates the catalogs that applications are selected from: an fs.FS
// goes in, a Catalog or the list of everything that is wrong with it comes out.
//
// format.go lists the formats; each is one file, or a folder, and loader.go has what they share. Packages below read and
// check the documents. The input is untrusted: sizes, nesting and YAML aliases are bounded before anything is expanded.
//
// The package must not know selections, archives, the network or Kubernetes clients.
package catalog
