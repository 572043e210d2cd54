// SPDX-License-Identifier: Apache-2.0

package realm

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"oras.land/oras-go/v2/registry/remote/auth"
)

// RefusedError is returned for a token host that is not requested.
type RefusedError struct {
	// Host and port that the registry named.
	Host string
	// Why it is refused.
	Why string
}

// Error returns what is refused, why, and the flag that allows it.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("the registry directs requests for its tokens to %s, %s: refused; if tokens are issued there, --%s=%s allows it", e.Host, e.Why, Flag, e.Host)
}

// NewClient returns a client that sends requests using base, and requests tokens
//
//   - at the host of the registry: by https, or at the registry's own port,
//   - at other hosts: unless their address is internal, neither before the request nor when it is dialed,
//   - at allowed hosts: wherever they are.
//
// It adds to the rule of oras-go, which refuses http where the registry has https. Redirects of a token request are requests
// for a token as well. A proxy of base resolves names itself, so the address is not checked again. Other requests, such as
// redirects of blobs, are not restricted. wrap adds what comes above the rule, such as retries.
func NewClient(base *http.Transport, allowed Hosts, wrap func(http.RoundTripper) http.RoundTripper) *auth.Client {
	return newTransport(base, allowed).client(wrap)
}

// NewClient returns a client that requests tokens as the client of the function NewClient does, but without TLS only at allowed
// hosts and hosts that Plain reports. For other requests it is restricted as From says; first is the registry.
func (r Rule) NewClient(base *http.Transport, first *url.URL, wrap func(http.RoundTripper) http.RoundTripper) *auth.Client {
	t := newTransport(base, r.Allowed)
	t.data, t.isPlain = r.From(base, first), r.isPlain
	return t.client(wrap)
}

func newTransport(base *http.Transport, allowed Hosts) *transport {
	checked := dialing(base, within(func() scope { return publicScope }))
	return &transport{base: base, checked: checked, data: base, proxy: base.Proxy, allowed: allowed}
}

func (t *transport) client(wrap func(http.RoundTripper) http.RoundTripper) *auth.Client {
	return &auth.Client{Client: &http.Client{Transport: wrap(t)}, Cache: &cache{auth.NewCache()}}
}

// tokenOf is the key of a context whose requests are for a token; its value is the host of the registry.
type tokenOf struct{}

// cache adds to the context of requests for a token that they are such.
type cache struct{ auth.Cache }

// Set implements auth.Cache.
func (c *cache) Set(ctx context.Context, registry string, scheme auth.Scheme, key string, fetch func(context.Context) (string, error)) (string, error) {
	return c.Cache.Set(ctx, registry, scheme, key, func(ctx context.Context) (string, error) {
		return fetch(context.WithValue(ctx, tokenOf{}, registry))
	})
}

// transport sends requests for tokens according to the rule.
type transport struct {
	base, checked http.RoundTripper
	// data sends what is no request for a token.
	data http.RoundTripper
	// isPlain reports whether another host than the registry's may issue tokens without TLS; nil for all.
	isPlain func(host string) bool
	// proxy returns the proxy of a request; may be nil.
	proxy   func(*http.Request) (*url.URL, error)
	allowed Hosts
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	request = withoutStray(request)
	if registry, ok := request.Context().Value(tokenOf{}).(string); ok {
		return t.requestToken(request, registry)
	}
	response, err := t.data.RoundTrip(request)
	if err == nil {
		if err = notPage(request, response); err != nil {
			_ = response.Body.Close()
			return nil, err
		}
	}
	if err != nil || response.StatusCode != http.StatusUnauthorized || request.Response != nil {
		return response, err
	}
	if err := t.admit(request, response); err != nil {
		_ = response.Body.Close()
		return nil, err
	}
	return response, nil
}

// quotedRealm matches the realm of a challenge. Should oras-go read another one, that is checked when it is requested.
var quotedRealm = regexp.MustCompile(`(?i)^(bearer\s.*?\brealm=)"([^"]*)"`)

// admit returns a *RefusedError for the challenge of a registry that oras-go would refuse without naming the flag. The
// realm of an allowed host gets the registry's own host, which oras-go does not check, and its host in the fragment.
func (t *transport) admit(request *http.Request, response *http.Response) error {
	challenge := response.Header.Get("Www-Authenticate")
	match := quotedRealm.FindStringSubmatch(challenge)
	if match == nil {
		return nil
	}
	at, err := url.Parse(match[2])
	if err != nil || at.Scheme != "https" && at.Scheme != request.URL.Scheme {
		return nil // refused by oras-go, whatever is allowed
	}
	if t.allowed.has(at) {
		alias := *at
		alias.Host, alias.Fragment = request.URL.Host, at.Host
		response.Header.Set("Www-Authenticate", strings.Replace(challenge, `"`+match[2]+`"`, `"`+alias.String()+`"`, 1))
		return nil
	}
	own, err := ownHost(at, request.URL.Host)
	if err != nil || own {
		return err
	}
	return refused(at, resolvesInside(request.Context(), at))
}

// refused returns a *RefusedError for an *insideError, and another error as it is.
func refused(at *url.URL, err error) error {
	if inside := new(insideError); errors.As(err, &inside) {
		return &RefusedError{address(at), "which has the internal address " + inside.address.String()}
	}
	return err
}

// ownHost reports whether a token host is the registry's host, and returns a *RefusedError for a port of it that may be
// another service.
func ownHost(at *url.URL, registry string) (bool, error) {
	own := &url.URL{Scheme: at.Scheme, Host: registry}
	if !strings.EqualFold(at.Hostname(), own.Hostname()) {
		return false, nil
	}
	if at.Scheme != "https" && address(at) != address(own) {
		return true, &RefusedError{address(at), "another port of its host, without TLS"}
	}
	return true, nil
}

func (t *transport) requestToken(request *http.Request, registry string) (*http.Response, error) {
	at := *request.URL
	if at.Fragment != "" {
		at.Host, at.Fragment = at.Fragment, ""
		if !t.allowed.has(&at) {
			return nil, fmt.Errorf("the realm %s has a fragment", request.URL.Redacted())
		}
		return t.requestAlias(request, &at)
	}
	own, err := ownHost(&at, registry)
	switch {
	case t.allowed.has(&at), own && err == nil:
		return t.base.RoundTrip(request)
	case err != nil:
		return nil, err
	case at.Scheme != "https" && t.isPlain != nil && !t.isPlain(at.Host):
		return nil, &PlainError{at.Host}
	case proxied(t.proxy, request):
		if err := resolvesInside(request.Context(), &at); err != nil {
			return nil, refused(&at, err)
		}
		return t.base.RoundTrip(request)
	}
	response, err := t.checked.RoundTrip(request)
	return response, refused(&at, err)
}

// requestAlias requests a token at the allowed host that an alias stands for.
func (t *transport) requestAlias(request *http.Request, at *url.URL) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.URL, request.Host = at, ""
	response, err := t.base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if to, err := response.Location(); err == nil { // relative to the host itself, not to its alias
		response.Header.Set("Location", to.String())
	}
	return response, nil
}

// PageError is returned for a web page where a registry has a manifest or a list of tags.
type PageError struct {
	// Host that was requested, and Page the host of the page, to which it may have redirected.
	Host, Page string
}

// Error returns who answered with the page, and what to check.
func (e *PageError) Error() string {
	redirected := ""
	if e.Page != e.Host {
		redirected = " redirects to " + e.Page + ", which"
	}
	return fmt.Sprintf("%s%s answers with a web page instead of a manifest or tags: check the host, and whether a proxy or a login page is before the registry", e.Host, redirected)
}

// notPage returns a *PageError for a web page. Answers about blobs are not looked at: their digest is compared, and storages
// have types of their own.
func notPage(request *http.Request, response *http.Response) error {
	first := request
	for first.Response != nil && first.Response.Request != nil {
		first = first.Response.Request
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode != http.StatusOK || kind != "text/html" || !strings.Contains(first.URL.Path, "/manifests/") && !strings.Contains(first.URL.Path, "/tags/") {
		return nil
	}
	return &PageError{first.URL.Host, request.URL.Host}
}
