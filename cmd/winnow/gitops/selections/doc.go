// SPDX-License-Identifier: Apache-2.0

// Package selections compares the CatalogSelections of two commits of a GitOps repository: it
// pairs them, resolves their sources among the objects that the commits apply, and compares the rendered states. It
// must not know how catalogs are opened nor the live state of a cluster, which are functions of its caller.
package selections
