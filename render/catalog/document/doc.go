// SPDX-License-Identifier: Apache-2.0

// Package document reads the YAML documents of a catalog within bounds. What is wrong with one becomes a finding.
//
// It must not know what a document means.
package document
