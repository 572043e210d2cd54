// SPDX-License-Identifier: Apache-2.0

// Package selections compares the CatalogSelections of two commits of a GitOps repository. A State is a selection in a commit,
// with its sources resolved among the objects that the commit applies, and its render. A pair is a selection in both commits; it
// is compared for itself, and related to the others after that: applications move, and artifacts feed selections. It must not
// know how catalogs are opened nor the live state of a cluster, which are functions of its caller.
package selections
