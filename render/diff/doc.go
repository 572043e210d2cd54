// SPDX-License-Identifier: Apache-2.0

// Package diff is the report on how a change of catalogs, or of a CatalogSelection, changes the artifact, for each
// application and version, and which of these changes the safeguards will hold. Package comparing fills it in.
//
// It must not know how two artifacts are compared, nor how a report is printed.
package diff
