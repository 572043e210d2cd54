// SPDX-License-Identifier: Apache-2.0

// Package farm makes GitOps repositories of many clusters, for tests and measurements of what compares commits: a base, a
// ring of clusters for each overlay, and catalogs. It must not know what compares them.
package farm
