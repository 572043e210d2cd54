package oci

import (
	"fmt"
	"strings"

	ociregistry "oras.land/oras-go/v2/registry"
)

// Scheme begins the address of what is in a registry.
const Scheme = "oci://"

// ParseReference parses oci://host/repository[:tag|@digest]. Its errors do not name the address.
func ParseReference(address string) (ociregistry.Reference, error) {
	rest, ok := strings.CutPrefix(address, Scheme)
	if !ok {
		return ociregistry.Reference{}, fmt.Errorf("want %shost/repository[:tag]", Scheme)
	}
	return ociregistry.ParseReference(rest)
}

// Address returns oci://host/repository, without tag and digest.
func Address(reference ociregistry.Reference) string {
	return Scheme + reference.Registry + "/" + reference.Repository
}

// DigestAddress returns the address of the artifact with the digest, which is always the same artifact.
func DigestAddress(reference ociregistry.Reference, digest string) string {
	return Address(reference) + "@" + digest
}
