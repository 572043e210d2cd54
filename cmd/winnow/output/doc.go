// SPDX-License-Identifier: Apache-2.0

// Package output writes what verbs print: results as tables, grids and documents of JSON and YAML, notes and progress on
// standard error, and errors. It must not know flags, or what a verb does.
package output
