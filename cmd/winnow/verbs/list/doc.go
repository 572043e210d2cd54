// SPDX-License-Identifier: Apache-2.0

// Package list is winnow list: it lists the applications of a catalog, and what a selection decides on each.
package list
