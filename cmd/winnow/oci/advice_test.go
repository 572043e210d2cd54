// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"errors"
	"fmt"
	"net/url"
	"testing"

	ociregistry "oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/winnow-dev/winnow/test/canary"
)

func TestAdvise(t *testing.T) {
	status := func(code int) error {
		return fmt.Errorf("context: %w", &errcode.ErrorResponse{Method: "HEAD", StatusCode: code, URL: &url.URL{Scheme: "https", Host: "example.com", Path: "/v2", RawQuery: "token=" + canary.Secret}})
	}
	failure := errors.New("failure")
	for _, test := range []struct {
		name      string
		err       error
		plainHTTP bool
		want      string
	}{
		{"no credentials, or wrong ones", status(401), false,
			"context: HEAD https://example.com/v2: 401 Unauthorized; the credentials of Docker's configuration are missing or refused: docker login example.com stores others"},
		{"no rights", status(403), false, "context: HEAD https://example.com/v2: 403 Forbidden; the account that docker login example.com stored has no right to do this in org/catalog"},
		{"a registry with TLS", status(400), true, "context: HEAD https://example.com/v2: 400 Bad Request; a registry with TLS needs no --plain-http"},
		{"a request that is wrong otherwise", status(400), false, "context: HEAD https://example.com/v2: 400 Bad Request"},
		{"rate limiting", status(429), false, "context: HEAD https://example.com/v2: 429 Too Many Requests; the registry fails or is rate-limiting requests: try again later"},
		{"a broken registry", status(503), false, "context: HEAD https://example.com/v2: 503 Service Unavailable; the registry fails or is rate-limiting requests: try again later"},
		{"anything else", failure, true, "failure"},
	} {
		t.Run(test.name, func(t *testing.T) {
			repository := &Repository{credentials: &Credentials{}, remote: &remote.Repository{
				Reference: ociregistry.Reference{Registry: "example.com", Repository: "org/catalog"},
				PlainHTTP: test.plainHTTP,
			}}
			got := repository.advise(test.err)
			if got.Error() != test.want || !errors.Is(got, test.err) {
				t.Errorf("advise() = %v", got)
			}
		})
	}
}
