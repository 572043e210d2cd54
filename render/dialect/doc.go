// SPDX-License-Identifier: Apache-2.0

// Package dialect reads YAML as the program that reads a file last, because programs read different values from the same bytes:
// Kustomize reads the objects in Git that Flux applies, Values the default values of an application. What Winnow alone reads is
// read using yamlnode. docs/design/dialects.md has the reader of each kind of file.
//
// It must not know the fields of a document.
package dialect
