// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/functions"
	"github.com/winnow-dev/winnow/registry/realm"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/krmfunctions"
	"github.com/winnow-dev/winnow/render/tree"
)

// The bounds of a download, beside krmfunctions.MaxFile for its content.
const (
	downloadTimeout = time.Minute
	maxRedirects    = 5
)

// downloadFunctions loads the catalog in a file on a web server, and returns the address without the digest.
func downloadFunctions(ctx context.Context, where string, access *flags.Access) (address string, _ *krmfunctions.Catalog, _ error) {
	address, digest := functions.SplitDigest(where)
	shown := redact.Text(address)
	if digest == "" {
		return shown, nil, fmt.Errorf("%s has no digest, so its server decides what runs: look at the file, and append @sha256: and what sha256sum prints of it", shown)
	}
	data, err := download(ctx, address, digest, access)
	if err != nil {
		return shown, nil, fmt.Errorf("downloading %s: %w", shown, err)
	}
	const name = "catalog.yaml"
	files := tree.New()
	if err := files.Add(name, data); err != nil {
		return shown, nil, err
	}
	loaded, err := krmfunctions.LoadFile(ctx, files.FS(), name)
	return shown, loaded, err
}

// download fetches a file without credentials and certificates of this user, and compares it with the digest.
func download(ctx context.Context, address, digest string, access *flags.Access) ([]byte, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("it is no URL")
	}
	if parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return nil, errors.New("it has a user, a password, a query or a fragment: want https://host/path@sha256:DIGEST, which anyone may read")
	}
	client, err := newClient(ctx, parsed, access)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		if cause, ok := errors.AsType[*url.Error](err); ok { // its text repeats the address
			err = cause.Err
		}
		return nil, new(redact.Secrets).Error(err, nil) // it may quote where the server redirects to
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers with the status %d: want a file that anyone may read", response.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, krmfunctions.MaxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > krmfunctions.MaxFile {
		return nil, fmt.Errorf("it is larger than %d bytes", krmfunctions.MaxFile)
	}
	sum := sha256.Sum256(data)
	if found := hex.EncodeToString(sum[:]); found != digest {
		return nil, fmt.Errorf("its sha256 is %s, not %s: look at what has changed, and name it with the other digest", found, digest)
	}
	return data, nil
}

// newClient returns a client for a file, which leaves https for no redirect. It does not decompress the bytes of a response.
func newClient(ctx context.Context, file *url.URL, access *flags.Access) (*http.Client, error) {
	opened, err := access.Open(ctx)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	if opened.TLS != nil {
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: opened.TLS.RootCAs}
	}
	restricted := realm.Rule{Allowed: opened.TokenHosts}.From(transport, file)
	return &http.Client{Transport: restricted, Timeout: downloadTimeout, CheckRedirect: func(to *http.Request, via []*http.Request) error {
		switch {
		case to.URL.Scheme != "https":
			return fmt.Errorf("the server redirects to %s, which is not https", excerpt.Quoted(to.URL.Scheme+"://"+to.URL.Host))
		case len(via) > maxRedirects:
			return fmt.Errorf("the server redirects more than %d times", maxRedirects)
		}
		return nil
	}}, nil
}
