// SPDX-License-Identifier: Apache-2.0

// Package edits writes runtimes into the configs of functions, and edits kustomizations, whose comments and style stay. It must
// not know where a runtime comes from.
package edits
