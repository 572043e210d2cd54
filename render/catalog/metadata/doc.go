// SPDX-License-Identifier: Apache-2.0

// Package metadata is what a catalog states about an application beside its definition: its tier, labels, annotations and
// deprecation, and the facts on its versions.
//
// It must not know definitions, nor how the file is found.
package metadata
