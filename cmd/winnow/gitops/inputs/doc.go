// SPDX-License-Identifier: Apache-2.0

// Package inputs determines the files that a directory is built of, and the remote addresses among its inputs, without a
// build. It must not run kustomize, nor know the objects that come of the files.
package inputs
