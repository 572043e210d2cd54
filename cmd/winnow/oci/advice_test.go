// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"errors"
	"fmt"
	"testing"

	ociregistry "oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

func TestAdvise(t *testing.T) {
	status := func(code int) error {
		return fmt.Errorf("context: %w", &errcode.ErrorResponse{Method: "HEAD", StatusCode: code})
	}
	failure := errors.New("failure")
	for _, test := range []struct {
		name      string
		err       error
		plainHTTP bool
		want      string // suffix of the error
	}{
		{"no credentials, or wrong ones", status(401), false,
			"; the credentials of Docker's configuration are missing or refused: docker login example.com stores others"},
		{"no rights", status(403), false, "; the account that docker login example.com stored has no right to do this in org/catalog"},
		{"a registry with TLS", status(400), true, "; a registry with TLS needs no --plain-http"},
		{"a request that is wrong otherwise", status(400), false, ""},
		{"rate limiting", status(429), false, "; the registry fails or is rate-limiting requests: try again later"},
		{"a broken registry", status(503), false, "; the registry fails or is rate-limiting requests: try again later"},
		{"anything else", failure, true, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			repository := &Repository{remote: &remote.Repository{
				Reference: ociregistry.Reference{Registry: "example.com", Repository: "org/catalog"},
				PlainHTTP: test.plainHTTP,
			}}
			got := repository.advise(test.err)
			if got.Error() != test.err.Error()+test.want || !errors.Is(got, test.err) {
				t.Errorf("advise() = %v", got)
			}
		})
	}
}
