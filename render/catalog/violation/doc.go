// SPDX-License-Identifier: Apache-2.0

// Package violation collects the violations of a catalog: Findings has the violations of one file, Report has them
// for all files, and InvalidError is the error with them.
//
// It must not know how a catalog is read.
package violation
