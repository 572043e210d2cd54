package oci

import (
	"errors"
	"fmt"
	"strings"

	ociregistry "oras.land/oras-go/v2/registry"
)

// Scheme is the prefix of addresses in registries.
const Scheme = "oci://"

// ParseReference parses oci://host/repository[:tag|@digest]. Its errors do not name the address.
func ParseReference(address string) (ociregistry.Reference, error) {
	rest, ok := strings.CutPrefix(address, Scheme)
	if !ok {
		return ociregistry.Reference{}, fmt.Errorf("want %shost/repository[:tag]", Scheme)
	}
	if host, _, _ := strings.Cut(rest, "/"); strings.Contains(host, "@") {
		return ociregistry.Reference{}, errors.New("it has a user or a password: docker login stores them")
	}
	return ociregistry.ParseReference(rest)
}

// Address returns oci://host/repository, without tag and digest.
func Address(reference ociregistry.Reference) string {
	return Scheme + reference.Registry + "/" + reference.Repository
}

// DigestAddress returns oci://host/repository@digest, which always refers to the same artifact.
func DigestAddress(reference ociregistry.Reference, digest string) string {
	return Address(reference) + "@" + digest
}
