// SPDX-License-Identifier: Apache-2.0

// Package files reads the files that users name, within limits and until they interrupt, and writes files and directories
// so that they are whole or unchanged. It must not know flags, or what a verb does.
package files
