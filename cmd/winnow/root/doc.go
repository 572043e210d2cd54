// SPDX-License-Identifier: Apache-2.0

// Package root gathers the verbs: the tree of commands, with help and completion, the exit codes, and the documents that
// -o json prints. It must not know what a verb does.
package root
