// SPDX-License-Identifier: Apache-2.0

// Package approvalfile adds approvals to a CatalogSelection in a YAML file of a GitOps repository. The file belongs to
// its authors: all other bytes stay as they are, and each edit is proven by reading its result. It must not know
// clusters, nor what an approval releases.
package approvalfile
