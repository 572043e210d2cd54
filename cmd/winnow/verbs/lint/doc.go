// SPDX-License-Identifier: Apache-2.0

// Package lint is winnow lint: it finds what is wrong with catalogs and selections. It must not know a cluster.
package lint
