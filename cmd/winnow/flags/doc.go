// SPDX-License-Identifier: Apache-2.0

// Package flags has the flags and arguments that several verbs take, with their completions, and explains a wrong usage.
// It must not know what a verb does with them, or open a catalog.
package flags
