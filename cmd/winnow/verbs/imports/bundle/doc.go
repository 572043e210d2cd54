// SPDX-License-Identifier: Apache-2.0

// Package bundle reads bundles of operators in OLM's format registry+v1: an fs.FS goes in, a Bundle or the list of everything
// that is wrong with it comes out. It reads what `opm render` reads, within bounds, and refuses what `opm alpha bundle
// validate` or OLM v1 refuse. It must not know registries, flags and what is made of a bundle.
package bundle
