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

	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/registry/redact"
)

// timeout bounds a request, with its retries and its body.
const timeout = 5 * time.Minute

// web gets the files of a repository, from its web server and the servers that it leads to.
type web struct {
	client      *http.Client
	credentials *oci.Credentials
}

func newWeb(access oci.Access, repository *url.URL, credentials *oci.Credentials) web {
	transport := retry.NewTransport(access.Transport(repository))
	return web{&http.Client{Transport: transport, CheckRedirect: checkRedirect, Timeout: timeout}, credentials}
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
	found, err := w.credentials.Of(ctx, request.URL.Host)
	if err != nil {
		return nil, err
	}
	if found.Username != "" { // the transport keeps them from redirects to another host or port
		request.SetBasicAuth(found.Username, found.Password)
	}
	response, err := w.client.Do(request)
	if err != nil {
		return nil, w.credentials.Plain(err)
	}
	defer response.Body.Close()
	where := redact.Text(at.String())
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s%s", where, redact.Status(response.StatusCode), advice(response.StatusCode, at.Host))
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("GET %s: %w", where, w.credentials.Plain(err))
	case int64(len(content)) > limit:
		return nil, fmt.Errorf("GET %s: it has more than %d bytes", where, limit)
	}
	return content, nil
}

// maxRedirects is for each request.
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

func advice(status int, host string) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ": docker login " + host + " stores credentials for it"
	case http.StatusNotFound:
		return ": there is no such repository or archive, or this account must not see it"
	}
	return ""
}
