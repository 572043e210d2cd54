// SPDX-License-Identifier: Apache-2.0

// Package diff is winnow diff: it compares catalogs, selections and commits. It must not know how a diff is shown.
package diff
