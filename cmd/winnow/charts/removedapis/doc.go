// SPDX-License-Identifier: Apache-2.0

// Package removedapis has the APIs that releases of Kubernetes have removed, and finds objects of them in manifests that are not
// trusted. It must not know charts.
package removedapis
