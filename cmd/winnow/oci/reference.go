// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"errors"
	"fmt"
	"strings"

	ociregistry "oras.land/oras-go/v2/registry"

	"github.com/winnow-dev/winnow/registry/redact"
)

// Scheme is the prefix of addresses in registries.
const Scheme = "oci://"

// Latest is the tag of a reference that has none.
const Latest = "latest"

// ParseReference parses oci://host/repository[:tag|@digest]. Its errors do not name the address.
func ParseReference(address string) (ociregistry.Reference, error) {
	rest, ok := strings.CutPrefix(address, Scheme)
	if !ok {
		err := fmt.Errorf("want %shost/repository[:tag]", Scheme)
		if meant := Meant(address); meant != "" {
			err = fmt.Errorf("%w: did you mean %s?", err, meant)
		}
		return ociregistry.Reference{}, err
	}
	if redact.Users(address) != address {
		return ociregistry.Reference{}, errors.New("it has a user or a password: docker login stores them")
	}
	reference, err := ociregistry.ParseReference(rest)
	if name, digest, ok := strings.Cut(rest, "@"); ok && err != nil && !strings.Contains(digest, ":") {
		if _, wrong := ociregistry.ParseReference(name + ":" + digest); wrong == nil {
			err = fmt.Errorf("%w: a tag follows a colon: did you mean %s%s:%s?", err, Scheme, name, digest)
		}
	}
	if name, build, ok := strings.Cut(rest, "+"); ok && err != nil {
		if _, wrong := ociregistry.ParseReference(name + "_" + build); wrong == nil {
			err = fmt.Errorf("%w: a tag has no +: write _ instead, %s%s_%s", err, Scheme, name, build)
		}
	}
	return reference, err
}

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

// Address returns oci://host/repository, without tag and digest.
func Address(reference ociregistry.Reference) string {
	return Scheme + reference.Registry + "/" + reference.Repository
}

// DigestAddress returns oci://host/repository@digest, which always refers to the same artifact.
func DigestAddress(reference ociregistry.Reference, digest string) string {
	return Address(reference) + "@" + digest
}

// Meant returns the address in a registry that an address without the scheme oci:// may mean, and the flag for a
// registry without TLS if it needs one. It returns an empty text if there is none.
func Meant(address string) string {
	scheme, rest, hasScheme := strings.Cut(address, "://")
	if !hasScheme {
		rest = address
	}
	host, repository, _ := strings.Cut(rest, "/")
	isHost := hasScheme || strings.ContainsAny(host, ".:") && !strings.HasPrefix(host, ".")
	if _, err := ParseReference(Scheme + rest); err != nil || !isHost || repository == "" || scheme+"://" == Scheme {
		return ""
	}
	if scheme == "http" && hasScheme {
		return Scheme + rest + ", with --plain-http=" + host
	}
	return Scheme + rest
}
