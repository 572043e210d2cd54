// Package compat tests that the real CustomResourceDefinitions of the platforms accept what
// Winnow renders, on a real API server. Their definitions are not part of this repository: the
// tests run where WINNOW_TEST_DATA names a directory with them, and say so when they skip.
package compat
