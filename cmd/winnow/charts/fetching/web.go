// SPDX-License-Identifier: Apache-2.0

package fetching

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

// timeout bounds a request, with its retries and its body.
const timeout = 5 * time.Minute

// web gets the files of a repository, on its web server and on those that it leads to.
type web struct {
	client     *http.Client
	credential auth.CredentialFunc
}

func newWeb(access oci.Access, repository *url.URL, credential auth.CredentialFunc) web {
	transport := retry.NewTransport(access.Transport(repository))
	return web{&http.Client{Transport: transport, CheckRedirect: checkRedirect, Timeout: timeout}, credential}
}

// get returns the content at a URL, at most limit bytes.
func (w web) get(ctx context.Context, address string, limit int64) ([]byte, error) {
	at, err := parseURL(address)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	if err := w.authorize(ctx, request); err != nil {
		return nil, err
	}
	response, err := w.client.Do(request)
	if err != nil {
		return nil, plain(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s%s", shown(at), response.Status, advice(response.StatusCode, at.Host))
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("GET %s: %w", shown(at), plain(err))
	case int64(len(content)) > limit:
		return nil, fmt.Errorf("GET %s: it has more than %d bytes", shown(at), limit)
	}
	return content, nil
}

// authorize adds the credentials for the host and the port of a request, which the transport keeps from redirects to others.
func (w web) authorize(ctx context.Context, request *http.Request) error {
	host := request.URL.Host
	found, err := w.credential(ctx, host)
	if err != nil {
		return fmt.Errorf("reading the credentials of %s: %w", host, err)
	}
	if found.Username != "" {
		request.SetBasicAuth(found.Username, found.Password)
	}
	return nil
}

// maxRedirects bounds those of a request.
const maxRedirects = 10

// checkRedirect refuses to go on without TLS.
func checkRedirect(next *http.Request, before []*http.Request) error {
	switch {
	case len(before) >= maxRedirects:
		return fmt.Errorf("it is redirected more than %d times", maxRedirects)
	case next.URL.Scheme != "https" && before[0].URL.Scheme == "https":
		return errors.New("it is redirected to an address without TLS")
	}
	return nil
}

// plain returns an error of a client without the query of its URL, which may be a signature.
func plain(err error) error {
	var of *url.Error
	if !errors.As(err, &of) {
		return err
	}
	at, parseErr := url.Parse(of.URL)
	if parseErr != nil {
		return of.Err
	}
	return fmt.Errorf("%s %s: %w", of.Op, shown(at), of.Err)
}

// shown returns a URL for people, without what may be secret.
func shown(at *url.URL) string {
	return output.WithoutUsers(at.Scheme + "://" + at.Host + at.EscapedPath())
}

func advice(status int, host string) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ": docker login " + host + " stores credentials for it"
	case http.StatusNotFound:
		return ": there is no such repository or archive, or this account must not see it"
	}
	return ""
}
