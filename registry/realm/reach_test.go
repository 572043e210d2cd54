// SPDX-License-Identifier: Apache-2.0

package realm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"
)

func TestScopesThatAreDialed(t *testing.T) {
	for _, test := range []struct {
		address string
		// want are the scopes of the first host from which the address is dialed.
		want string
	}{
		{"203.0.113.7:443", "public private link machine"},
		{"[2001:db8::7]:443", "public private link machine"},
		{"[64:ff9b::cb00:7107]:443", "public private link machine"}, // 203.0.113.7, where only IPv6 is
		{"10.0.0.7:443", "private"},
		{"172.16.0.1:443", "private"},
		{"192.168.0.1:443", "private"},
		{"100.100.100.200:443", "private"},
		{"[fd00:ec2::254]:443", "private"},
		{"[::ffff:10.0.0.7]:443", "private"},
		{"[64:ff9b::a00:7]:443", "private"},
		{"[2002:a00:7::]:443", "private"},
		{"169.254.169.254:80", "link"},
		{"[fe80::1%eth0]:443", "link"},
		{"[::ffff:169.254.169.254]:443", "link"},
		{"[64:ff9b::a9fe:a9fe]:443", "link"},
		{"224.0.0.1:443", "link"},
		{"127.0.0.1:443", "machine"},
		{"127.9.9.9:443", "machine"},
		{"[::1]:443", "machine"},
		{"0.0.0.0:443", "machine"},
		{"[::]:443", "machine"},
		{"[::ffff:127.0.0.1]:443", "machine"},
		{"[::ffff:0.0.0.0]:443", "machine"},
		{"[64:ff9b::7f00:1]:443", "machine"},
		{"[2002:7f00:1::]:443", "machine"},
		{"[fec0::1]:443", "private"},          // site-local
		{"[64:ff9b:1::a00:7]:443", "private"}, // RFC 8215
		{"[::a00:7]:443", "private"},          // IPv4-compatible
		{"198.18.0.1:443", "private"},         // RFC 2544
		{"0.1.2.3:443", "machine"},            // this network
		{"no address", ""},
	} {
		var got []string
		for i, name := range []string{"public", "private", "link", "machine"} {
			if within(func() scope { return scope(i) })("tcp", test.address, nil) == nil {
				got = append(got, name)
			}
		}
		if found := strings.Join(got, " "); found != test.want {
			t.Errorf("%s is dialed from %q, want %q", test.address, found, test.want)
		}
	}
}

// hop is a fake transport: it records where requests go, and answers with a redirect to the next address.
type hop struct {
	name string
	to   []string
	log  *[]string
}

func (h *hop) RoundTrip(request *http.Request) (*http.Response, error) {
	line := h.name + " " + request.URL.String()
	if secret := request.Header.Get("Authorization"); secret != "" {
		line += " " + secret
	}
	if query := request.Header.Get("Referer"); strings.Contains(query, "?") {
		line += " from " + query
	}
	*h.log = append(*h.log, line)
	response := &http.Response{Request: request, Header: http.Header{}, Body: http.NoBody, StatusCode: http.StatusOK}
	if n := len(*h.log); n <= len(h.to) {
		response.StatusCode = http.StatusFound
		response.Header.Set("Location", h.to[n-1])
	}
	return response, nil
}

// Each request passes the rule, whatever redirects to it, and has credentials only if no redirect has led away from their host.
func TestTheRuleOfRequests(t *testing.T) {
	const plain, allowed = "plain.example:8080", "allowed.example"
	for _, test := range []struct {
		name, first string
		to          []string
		want        []string
		refused     string
	}{
		{"the first host, with its port written", "https://first.example/", []string{"https://first.example:443/x"},
			[]string{"base https://first.example/ secret", "base https://first.example:443/x secret"}, ""},
		{"another port of it", "https://first.example/", []string{"https://first.example:8443/x"},
			[]string{"base https://first.example/ secret", "checked https://first.example:8443/x"}, ""},
		{"another host, from an address with a signature", "https://first.example/?signature=x", []string{"https://other.example/"},
			[]string{"base https://first.example/?signature=x secret", "checked https://other.example/"}, ""},
		{"a subdomain of it", "https://first.example/", []string{"https://sub.first.example/x"},
			[]string{"base https://first.example/ secret", "checked https://sub.first.example/x"}, ""},
		{"another host and back", "https://first.example/", []string{"https://other.example/", "https://first.example/x"},
			[]string{"base https://first.example/ secret", "checked https://other.example/", "base https://first.example/x"}, ""},
		{"an allowed host", "https://first.example/", []string{"https://allowed.example/x"},
			[]string{"base https://first.example/ secret", "base https://allowed.example/x"}, ""},
		{"another port of an allowed host", "https://first.example/", []string{"https://allowed.example:8443/x"},
			[]string{"base https://first.example/ secret", "checked https://allowed.example:8443/x"}, ""},
		{"a host without TLS", "https://first.example/", []string{"http://plain.example:8080/x"},
			[]string{"base https://first.example/ secret", "base http://plain.example:8080/x"}, ""},
		{"a host without TLS, with TLS", "https://first.example/", []string{"https://plain.example:8080/x"},
			[]string{"base https://first.example/ secret", "checked https://plain.example:8080/x"}, ""},
		{"another port of a host without TLS", "http://plain.example:8080/", []string{"http://plain.example:9090/x"},
			[]string{"base http://plain.example:8080/ secret"}, "plain.example:9090"},
		{"from http to https and back", "http://plain.example:8080/", []string{"https://other.example/", "http://other.example/"},
			[]string{"base http://plain.example:8080/ secret", "checked https://other.example/"}, "other.example"},
		{"the same port, without TLS", "https://plain.example:8080/", []string{"http://plain.example:8080/x"},
			[]string{"base https://plain.example:8080/ secret", "base http://plain.example:8080/x"}, ""},
		{"no TLS", "http://first.example/", nil, nil, "first.example"},
		{"no TLS at an allowed host", "https://first.example/", []string{"http://allowed.example:443/x"},
			[]string{"base https://first.example/ secret"}, "allowed.example:443"},
		{"a file", "https://first.example/", []string{"file:///etc/passwd"}, []string{"base https://first.example/ secret"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var log []string
			rule := Rule{Plain: func(host string) bool { return host == plain }}
			if err := rule.Allowed.Set(allowed); err != nil {
				t.Fatal(err)
			}
			first, err := url.Parse(test.first)
			if err != nil {
				t.Fatal(err)
			}
			client := &http.Client{Transport: &reach{
				rule: rule, first: address(first), base: &hop{"base", test.to, &log}, checked: &hop{"checked", test.to, &log},
			}}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, test.first, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "secret")
			response, err := client.Do(request)
			if err == nil {
				_ = response.Body.Close()
			}
			if !slices.Equal(log, test.want) {
				t.Errorf("requested %q, want %q: %v", log, test.want, err)
			}
			refused := new(PlainError)
			if got := errors.As(err, &refused); test.name != "a file" && (got != (test.refused != "") || refused.Host != test.refused || !got && err != nil) {
				t.Errorf("Do() = %v, want a refusal of %q", err, test.refused)
			}
		})
	}
}

// claimed is a connection to a server of the test that has another address.
type claimed struct {
	net.Conn

	address string
}

func (c claimed) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(c.address), Port: 443} }

// The scope of the first host is that of the connection to it, and not what its name resolves to.
func TestTheFirstHostOpensItsOwnScope(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "inside") }))
	defer inside.Close()
	secure := httptest.NewTLSServer(inside.Config.Handler)
	defer secure.Close()
	target := "https://example.com" + secure.URL[strings.LastIndex(secure.URL, ":"):]
	for _, test := range []struct {
		name, address string
		isFirstAsked  bool
		isReached     bool
	}{
		{"a first host that has not answered", "127.0.0.1", false, false},
		{"a public first host, whose name resolves to this machine", public, true, false},
		{"a private first host", "10.0.0.7", true, false},
		{"the metadata of a cloud", "169.254.169.254", true, false},
		{"this machine", "127.0.0.1", true, true},
		{"this machine, by IPv6", "::1", true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			resolve(t, "127.0.0.1")
			base := http.DefaultTransport.(*http.Transport).Clone()
			base.TLSClientConfig = secure.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
			base.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, "tcp", inside.Listener.Addr().String())
				return claimed{conn, test.address}, err
			}
			defer base.CloseIdleConnections()
			rule := Rule{Plain: func(host string) bool { return host == "first.example" }}
			client := &http.Client{Transport: rule.From(base, &url.URL{Scheme: "http", Host: "first.example"})}
			if test.isFirstAsked {
				if err := get(t, client, "http://first.example"); err != nil {
					t.Fatal(err)
				}
			}
			err := get(t, client, target)
			refused := new(InsideError)
			if test.isReached != (err == nil) || err != nil && (!errors.As(err, &refused) || refused.Address.String() != "127.0.0.1") {
				t.Errorf("Get() = %v", err)
			}
		})
	}
}

func get(t *testing.T, client *http.Client, address string) error {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// A proxy resolves names itself: a name that is an internal one here is not requested, and one that only the proxy knows is.
func TestAProxyGetsNoInternalName(t *testing.T) {
	for _, test := range []struct {
		name, answer, target string
		want                 []string
	}{
		{"a public name", public, "https://other.example/", []string{"base https://first.example/", "base https://other.example/"}},
		{"an internal name", "10.0.0.7", "https://other.example/", []string{"base https://first.example/"}},
		{"an internal address", public, "https://169.254.169.254/", []string{"base https://first.example/"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			resolve(t, test.answer)
			var log []string
			base := &hop{"base", []string{test.target}, &log}
			proxy := http.ProxyURL(&url.URL{Scheme: "http", Host: "10.0.0.1:3128"})
			err := get(t, &http.Client{Transport: &reach{first: "first.example:443", base: base, proxy: proxy}}, "https://first.example/")
			if refused := new(InsideError); !slices.Equal(log, test.want) || errors.As(err, &refused) != (len(test.want) == 1) {
				t.Errorf("requested %q, want %q: %v", log, test.want, err)
			}
		})
	}
}

// A client that follows redirects of token requests to private addresses, as that of oras-go 2.7 does, gets no token there.
func TestRedirectsOfTokenRequestsAreRefusedWithoutOras(t *testing.T) {
	for _, test := range []struct {
		name, from, to, answer string
		proxy                  *url.URL
	}{
		{"to a private address", "https://auth.example/token", "https://other.example/token", "10.0.0.7", &url.URL{Scheme: "http", Host: "10.0.0.1:3128"}},
		{"to another port of the registry's host", "http://auth.example/token", "http://registry.example:6443/token", public, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			resolve(t, public, test.answer)
			var log []string
			one := &hop{"token", []string{test.to}, &log}
			restricted := &transport{base: one, checked: one, data: one}
			if test.proxy != nil {
				restricted.proxy = http.ProxyURL(test.proxy)
			}
			ctx := context.WithValue(t.Context(), tokenOf{}, "registry.example:5000")
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, test.from, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := (&http.Client{Transport: restricted}).Do(request)
			if err == nil {
				_ = response.Body.Close()
			}
			if refused := new(RefusedError); !errors.As(err, &refused) || !slices.Equal(log, []string{"token " + test.from}) {
				t.Errorf("requested %q: %v", log, err)
			}
		})
	}
}

// When it is dialed, the host of a redirected token request has a private address.
func TestARedirectOfATokenRequestIsDialedOutside(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the internal service was requested") }))
	defer inside.Close()
	resolve(t, "127.0.0.1")
	client := NewClient(http.DefaultTransport.(*http.Transport).Clone(), Hosts{}, func(base http.RoundTripper) http.RoundTripper { return base })
	from := &hop{"token", []string{"http://other.example" + inside.URL[strings.LastIndex(inside.URL, ":"):]}, new([]string)}
	client.Client.Transport.(*transport).base = from // the host of the registry itself redirects
	ctx := context.WithValue(t.Context(), tokenOf{}, "registry.example")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://registry.example/token", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Client.Do(request)
	if err == nil {
		_ = response.Body.Close()
	}
	if refused := new(RefusedError); !errors.As(err, &refused) || !strings.Contains(fmt.Sprint(err), "127.0.0.1") {
		t.Errorf("Do() = %v", err)
	}
}

// Beside a registry without TLS, another host issues tokens by TLS, or by the flag.
func TestTokensWithoutTLSNeedTheFlag(t *testing.T) {
	const registry, at = "http://registry.example:5000/v2/", "http://auth.example/token"
	resolve(t, public)
	for _, test := range []struct {
		name  string
		rule  Rule
		realm string
		want  []string
	}{
		{"no flag", Rule{Plain: plainHosts("registry.example:5000")}, at, nil},
		{"the flag", Rule{Plain: plainHosts("registry.example:5000", "auth.example")}, at, []string{at}},
		{"an allowed host", Rule{Plain: plainHosts("registry.example:5000"), Allowed: Hosts{[]string{"auth.example:80"}}}, at, []string{at}},
		{"TLS", Rule{Plain: plainHosts("registry.example:5000")}, "https://auth.example/token", []string{"https://auth.example/token"}},
		{"the registry itself", Rule{Plain: plainHosts("registry.example:5000")}, "http://registry.example:5000/token", []string{"http://registry.example:5000/token"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := &network{challenge: bearer(test.realm)}
			client := test.rule.NewClient(http.DefaultTransport.(*http.Transport).Clone(), &url.URL{Scheme: "http", Host: "registry.example:5000"},
				func(rule http.RoundTripper) http.RoundTripper {
					own := rule.(*transport)
					own.base, own.checked, own.data = route{n, false}, route{n, true}, route{n, false}
					return own
				})
			client.Credential = auth.StaticCredential("registry.example:5000", auth.Credential{Username: "robot", Password: "secret"})
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, registry, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Do(request)
			if err == nil {
				_ = response.Body.Close()
			}
			if refused := new(PlainError); !slices.Equal(n.tokens, test.want) || errors.As(err, &refused) != (test.want == nil) {
				t.Errorf("requested tokens at %q, want %q: %v", n.tokens, test.want, err)
			}
		})
	}
}

func plainHosts(hosts ...string) func(string) bool {
	return func(host string) bool { return slices.Contains(hosts, host) }
}
