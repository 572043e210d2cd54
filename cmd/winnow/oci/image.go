// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"strings"

	ociregistry "oras.land/oras-go/v2/registry"
)

// ParseImage parses the name of an image as Docker does: without a host it is one of Docker Hub. Its errors do not name the
// image, which may have a password.
func ParseImage(image string) (ociregistry.Reference, error) {
	host, rest, ok := strings.Cut(image, "/")
	switch {
	case !ok:
		image = "docker.io/library/" + image
	case !strings.ContainsAny(host, ".:") && host != "localhost":
		image = "docker.io/" + image
	case host == "docker.io" && !strings.Contains(rest, "/"):
		image = "docker.io/library/" + rest
	}
	return ParseReference(Scheme + image)
}

// Digest returns the digest of the manifest, or of the index, that the reference names. The registry's content has it.
func (r *Repository) Digest(ctx context.Context) (string, error) {
	manifest, _, err := r.fetchManifest(ctx)
	return manifest.Digest.String(), err
}
