// SPDX-License-Identifier: Apache-2.0

// Package lint finds what is wrong, or likely to go wrong, with a catalog before a cluster does:
// a file system goes in, findings with rule, severity, path and line come out.
//
// Below it rules describes what a rule and a finding are, corpus reads a catalog, and field finds places in its
// documents; kkp, olm and schema have the rules on one thing each. The rules here are those on a catalog as a whole,
// and those on selections. docs/lint.md explains every rule.
//
// The package must not know selections, archives, the network or Kubernetes clients, nor how
// findings are printed.
package lint
