// SPDX-License-Identifier: Apache-2.0

// Package gitops determines which objects the commits of a GitOps repository apply to clusters: it reads
// Git, follows the Kustomizations of Flux and builds them as Flux does. It must not know catalogs, run
// programs of the repository or use the network. It reports objects that need the network as unknown if
// they differ between the commits.
package gitops
