// SPDX-License-Identifier: Apache-2.0

// Package configs finds the configs of functions in the kustomizations of a directory, as kustomize reads them, with the
// runtimes that they have. It must not know catalogs of functions.
package configs
