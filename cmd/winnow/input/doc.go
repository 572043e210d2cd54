// SPDX-License-Identifier: Apache-2.0

// Package input opens what verbs work on: a CATALOG, and the selection of -f with the catalogs of its sources. It must not
// know what a verb does with them.
package input
