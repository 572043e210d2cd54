// SPDX-License-Identifier: Apache-2.0

// Package patching bounds and proves patches: how much they may add, and that with them kustomize builds the selected
// objects and no others, in parts. It must not know applications and instances.
package patching
