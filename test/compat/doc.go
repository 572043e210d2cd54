// Package compat tests that the real CustomResourceDefinitions of the platforms accept the objects
// that Winnow renders, on a real API server. The definitions are not part of this repository: the
// tests run if WINNOW_TEST_DATA names a directory with them, and are skipped otherwise.
package compat
