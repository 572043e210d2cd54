// SPDX-License-Identifier: Apache-2.0

// Package browser opens the sites that test/sitedemo writes in a real browser: nothing of a catalog runs, filters and copies
// work, pages work without JavaScript, axe-core finds nothing serious, and the pictures of the documentation are what a reader
// sees. make e2e-browser and make site-pictures run it. It is a module of its own, so that the product has none of its
// dependencies.
package browser
