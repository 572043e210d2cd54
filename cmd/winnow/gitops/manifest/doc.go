// SPDX-License-Identifier: Apache-2.0

// Package manifest reads the objects that commits apply, as far as Flux and flux-operator do: Kustomizations, sources and
// references between objects. It must not build, nor look for the objects that others refer to.
package manifest
