// SPDX-License-Identifier: Apache-2.0

// Package selections finds the CatalogSelections of a commit of a GitOps repository, and compares those of two: it
// pairs them, resolves their sources among the objects that the commits apply, and compares the rendered states. It
// must not know how catalogs are opened nor the live state of a cluster, which are functions of its caller.
package selections
