// SPDX-License-Identifier: Apache-2.0

// Package site is winnow site: it writes a static web site of catalogs, and of a GitOps repository. Below it, model is what is
// shown, pages how, and logo the pictures that may be served.
package site
