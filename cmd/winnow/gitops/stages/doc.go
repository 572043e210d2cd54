// SPDX-License-Identifier: Apache-2.0

// Package stages finds the stages of a commit, each by the path that a user names, with the keys of its clusters and the
// digests that it has had. It must not know registries and clusters, and edits nothing.
package stages
