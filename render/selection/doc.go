// Package selection decides which applications of which catalogs are taken, and says why, as data.
// A rule is a small predicate; rules.go has their order.
//
// The package must not know YAML, archives, Kubernetes clients, or how a selection is written down.
package selection
