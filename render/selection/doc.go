// SPDX-License-Identifier: Apache-2.0

// Package selection decides which applications of catalogs are selected, and returns the reasons as data.
// A rule is a small predicate; rules.go has their order.
//
// The package must not know YAML, archives, Kubernetes clients, or the API of a CatalogSelection.
package selection
