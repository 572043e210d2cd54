// SPDX-License-Identifier: Apache-2.0

// Package blobs makes the documents of a file-based catalog of bundles: Of makes the one of a bundle, as `opm render` does,
// and Catalog the packages and channels as well. It must not know where bundles come from.
package blobs
