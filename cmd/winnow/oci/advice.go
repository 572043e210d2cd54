// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"

	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// advise returns an error of a registry without secrets, and with advice on how to solve it.
func (r *Repository) advise(err error) error {
	if err == nil {
		return nil
	}
	err = r.credentials.Plain(err)
	if r.withoutTLS != "" && errors.Is(err, http.ErrSchemeMismatch) {
		return fmt.Errorf("%w; %s", err, r.withoutTLS)
	}
	if advice := adviceOn(r.remote, err); advice != "" {
		return fmt.Errorf("%w; %s", err, advice)
	}
	return err
}

func adviceOn(repository *remote.Repository, err error) string {
	host := repository.Reference.Registry
	var response *errcode.ErrorResponse
	var untrusted *tls.CertificateVerificationError
	var network *net.OpError
	switch {
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return "docker login " + host + " stores some"
	case errors.As(err, &response):
		return adviceOnResponse(repository, response.StatusCode)
	case errors.Is(err, http.ErrSchemeMismatch):
		return "a registry without TLS needs --plain-http=" + host
	case errors.As(err, &untrusted):
		return "pass --ca-file with the authority of " + host + ", or trust it on this machine"
	case errors.Is(err, content.ErrMismatchedDigest), errors.Is(err, content.ErrTrailingData):
		return "the artifact in the registry is damaged: push the catalog again"
	case errors.As(err, &network) && network.Op == "dial":
		return "is " + host + " right, and can it be reached from here?"
	}
	return ""
}

func adviceOnResponse(repository *remote.Repository, status int) string {
	reference := repository.Reference
	switch {
	case status == http.StatusUnauthorized:
		return fmt.Sprintf("the credentials of Docker's configuration are missing or refused: docker login %s stores others", reference.Registry)
	case status == http.StatusForbidden:
		return fmt.Sprintf("the account that docker login %s stored has no right to do this in %s", reference.Registry, reference.Repository)
	case status == http.StatusBadRequest && repository.PlainHTTP:
		return "a registry with TLS needs no --plain-http"
	case status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		return "the registry fails or is rate-limiting requests: try again later"
	}
	return ""
}
