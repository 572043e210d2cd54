// SPDX-License-Identifier: Apache-2.0

// Command sitedemo writes the sites that the browser test opens, with the command line itself: of the examples with a fleet of
// seven clusters, of a catalog with 1,000 applications, and of one that is hostile. Everything is local, and the same on
// every run.
package main
