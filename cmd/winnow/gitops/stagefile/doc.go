// SPDX-License-Identifier: Apache-2.0

// Package stagefile finds the OCIRepositories in a YAML file of a GitOps repository, and edits the digest and the approval
// of one. The file belongs to its authors: all other bytes stay as they are, and each edit is proven by reading its result. It
// must not know registries, nor what an approval releases.
package stagefile
