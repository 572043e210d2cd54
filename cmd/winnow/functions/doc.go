// SPDX-License-Identifier: Apache-2.0

// Package functions resolves functions of kustomize: it gives each config in the kustomizations of a directory that has
// no runtime the runtime of a catalog of functions. It reads through an os.Root, executes nothing, and reaches no
// network by itself: opening catalogs and asking registries for digests are its caller's. It must not know flags.
package functions
