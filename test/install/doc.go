// SPDX-License-Identifier: Apache-2.0

// Package install installs Winnow as users do, from the working tree: the image and the manifests by make, and the
// command line by `go install`. Its directories are the programs that make runs for that.
package install
