// SPDX-License-Identifier: Apache-2.0

// Package contract reads the format of a catalog, and the one layer that holds it, from an OCI manifest.
// It gets the manifest's bytes, and must not know how they are fetched.
package contract
