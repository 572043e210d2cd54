// SPDX-License-Identifier: Apache-2.0

// Package compat tests that the real CustomResourceDefinitions of the platforms accept the objects
// that Winnow renders, on a real API server. Those of Flux and of the tofu-controller come from the modules
// that test/tools pins. The definitions of KKP and Cozystack are not part of this repository: their
// tests run if WINNOW_TEST_DATA names a directory with them, and are skipped otherwise.
//
// Other tests compare the reader of operator catalogs with opm, the reference, once
// `go run ./test/stack/cmd/stack -opm` has built it, and are skipped otherwise. They try some prunings and mutations of
// catalogs, the same in each run; `make sweep` tries all.
package compat
