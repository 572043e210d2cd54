// Package lint finds what is wrong, or likely to go wrong, with a catalog before a cluster does:
// a file system goes in, findings with rule, severity, path and line come out.
//
// A rule is a small function over the nodes of one document, or over all of them; the tables in
// catalog.go, webhook.go and missed.go name them. docs/lint.md explains every rule.
//
// The package must not know selections, archives, the network or Kubernetes clients, nor how
// findings are printed.
package lint
