// SPDX-License-Identifier: Apache-2.0

// Package promote is winnow promote: it writes the digest of a stage into another one, and shows what that changes. It must not
// write to a cluster or a registry.
package promote
