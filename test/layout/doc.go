// SPDX-License-Identifier: Apache-2.0

// Package layout has tests of how the repository is laid out: which files need each other, how long they are, that they
// name their licence, and that workflows pin what they use. It must not know what the code does.
package layout
