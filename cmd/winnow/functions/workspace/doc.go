// SPDX-License-Identifier: Apache-2.0

// Package workspace reads the files of a directory, among them programs, without following symbolic links and within limits,
// and keeps edits of them that are not written yet. It must not know what the files are about.
package workspace
