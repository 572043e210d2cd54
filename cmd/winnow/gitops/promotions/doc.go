// SPDX-License-Identifier: Apache-2.0

// Package promotions compares what stages run: a stage is an OCIRepository with the digest of a rendered artifact, which a
// Kustomization applies. Where two commits have another digest, it compares the two artifacts. It must not know how
// artifacts are pulled, nor catalogs and selections.
package promotions
