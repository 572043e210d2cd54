// SPDX-License-Identifier: Apache-2.0

// Package building builds a directory of a commit as Flux builds the path of a Kustomization: within limits, without the
// network, plugins and the file system of the host. It must not know clusters, nor how Kustomizations lead to each other.
package building
