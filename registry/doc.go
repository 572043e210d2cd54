// SPDX-License-Identifier: Apache-2.0

// Package registry fetches artifacts and images from an OCI registry and pushes them: by digest, bounded in bytes,
// and without sending content that the registry has. It must not know what an artifact is for, nor where
// addresses and credentials come from.
package registry
