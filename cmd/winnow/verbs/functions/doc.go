// SPDX-License-Identifier: Apache-2.0

// Package functions is winnow functions: it prints catalogs of KRM functions, and resolves functions with them. It must
// not run a function.
package functions
