// SPDX-License-Identifier: Apache-2.0

package realm

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"sync/atomic"
)

// PlainError is returned for a request that would be sent without TLS.
type PlainError struct {
	// Host and port of the request, as in its URL.
	Host string
}

// Error returns what is refused, and the flag that allows it.
func (e *PlainError) Error() string {
	return fmt.Sprintf("it would be reached without TLS: pass --plain-http=%s", e.Host)
}

// InsideError is returned for a request that another host directs to an internal address.
type InsideError struct {
	// Host and port of the request.
	Host string
	// Address of the host.
	Address netip.Addr
}

// Error returns what is refused, and the flag that allows it.
func (e *InsideError) Error() string {
	return fmt.Sprintf("%s has the internal address %s, to which a host elsewhere directs requests: refused; --%s=%s allows it", e.Host, e.Address, Flag, e.Host)
}

// Rule restricts requests. The zero value is TLS for all of them, and no internal address that another host names.
type Rule struct {
	// Plain reports whether a host, as in a URL, may be requested without TLS; nil for none.
	Plain func(host string) bool
	// Allowed hosts are requested wherever they are.
	Allowed Hosts
}

func (r Rule) isPlain(host string) bool { return r.Plain != nil && r.Plain(host) }

// From returns a transport for the requests to a first host, such as a registry, and for those that its redirects and its content
// lead to. base sends them, by its own dialer only if the address needs no check. Evaluated in order for each request:
//
//  1. A request without TLS needs a host that Plain reports, or is refused with a *PlainError.
//  2. The first host and port, a host without TLS, and one of Allowed are requested wherever they are.
//  3. Any other host has a public address, or one of the same scope as the one from which the first host has answered: private (and
//     100.64.0.0/10), link-local, or of this machine. Otherwise the request is refused with an *InsideError.
//
// The addresses of 3. are those that are dialed. A proxy resolves names itself: there, a host must not resolve to an internal
// address here. A redirect to another scheme, host or port loses the headers Authorization and Referer.
func (r Rule) From(base *http.Transport, first *url.URL) http.RoundTripper {
	t := &reach{rule: r, first: address(first), base: base, proxy: base.Proxy}
	t.checked = dialing(base, within(func() scope { return scope(t.near.Load()) }))
	return t
}

// reach is the transport of a Rule.
type reach struct {
	rule          Rule
	first         string
	base, checked http.RoundTripper
	// proxy returns the proxy of a request; may be nil.
	proxy func(*http.Request) (*url.URL, error)
	// near is the scope of the address of the first host; public until it has answered.
	near atomic.Int32
}

// RoundTrip implements http.RoundTripper.
func (t *reach) RoundTrip(request *http.Request) (*http.Response, error) {
	at := request.URL
	withoutTLS := at.Scheme != "https"
	if withoutTLS && !t.rule.isPlain(at.Host) {
		return nil, refuse(request, &PlainError{at.Host})
	}
	request = withoutStray(request)
	switch {
	case address(at) == t.first:
		return t.base.RoundTrip(t.observe(request))
	case withoutTLS, t.rule.Allowed.has(at):
		return t.base.RoundTrip(request)
	case proxied(t.proxy, request):
		if err := resolvesInside(request.Context(), at); err != nil {
			return nil, refuse(request, named(at, err))
		}
		return t.base.RoundTrip(request)
	}
	response, err := t.checked.RoundTrip(request)
	return response, named(at, err)
}

// observe returns a request to the first host that records its scope. The connection has it, after the handshake of TLS: that a
// name resolves to an internal address proves nothing. Through a proxy, there is none.
func (t *reach) observe(request *http.Request) *http.Request {
	if proxied(t.proxy, request) {
		return request
	}
	return request.WithContext(httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		if at, err := netip.ParseAddrPort(got.Conn.RemoteAddr().String()); err == nil {
			t.near.Store(int32(scopeOf(at.Addr())))
		}
	}}))
}

// named returns an *InsideError for an *insideError, and another error as it is.
func named(at *url.URL, err error) error {
	if inside := new(insideError); errors.As(err, &inside) {
		return &InsideError{address(at), inside.address}
	}
	return err
}

// refuse closes the body of a request that is not sent, and returns the error.
func refuse(request *http.Request, err error) error {
	if request.Body != nil {
		_ = request.Body.Close()
	}
	return err
}

// proxied reports whether a proxy, which resolves names itself, gets a request.
func proxied(proxy func(*http.Request) (*url.URL, error), request *http.Request) bool {
	if proxy == nil {
		return false
	}
	found, err := proxy(request)
	return err != nil || found != nil
}

// withoutStray returns a request without its secrets if redirects have led it away from the scheme, the host and the port that
// they are for: the header Authorization, which an http.Client keeps for other ports and for subdomains, and Referer, which has the
// query of the address that redirects.
func withoutStray(request *http.Request) *http.Request {
	for r := request; r.Response != nil && r.Response.Request != nil; {
		r = r.Response.Request
		if r.URL.Scheme != request.URL.Scheme || address(r.URL) != address(request.URL) {
			request = request.Clone(request.Context())
			request.Header.Del("Authorization")
			request.Header.Del("Referer")
			return request
		}
	}
	return request
}
