// SPDX-License-Identifier: Apache-2.0

// Package filebased reads catalogs of operators in OLM's file-based format, and cuts packages out of them:
// an fs.FS goes in, a Catalog or the list of everything that is wrong with it comes out.
//
// A catalog is a tree of files with YAML documents and concatenated JSON, which are called blobs. Each has a
// schema. Load accepts and refuses what `opm validate` of operator-registry v1.73.0 does, except for the bounds
// in bounds.go and in the packages below, under which every known catalog is: the input is untrusted. Prune removes what a predicate does
// not keep, such that the rest is valid again. Blobs keep their bytes; what is removed of one is removed whole. A Record
// has what two states of a package are compared by.
//
// The package must not know selections, archives, the network or Kubernetes clients.
package filebased
