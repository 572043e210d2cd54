// SPDX-License-Identifier: Apache-2.0

package realm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"oras.land/oras-go/v2/registry/remote/auth"
)

// public is an address for documentation, which is no internal one.
const public = "203.0.113.7"

// network answers requests like a registry with tokens and the hosts of these, without connections.
type network struct {
	challenge string
	// redirect is where token requests are redirected to, unless it is empty.
	redirect string
	// tokens are the URLs of requests for tokens, and checked is whether each would be checked when dialed.
	tokens  []string
	checked []bool
}

// route is one of the transports of the network.
type route struct {
	*network
	checked bool
}

func (r route) RoundTrip(request *http.Request) (*http.Response, error) {
	at := *request.URL
	response := &http.Response{Request: request, Header: http.Header{}, Body: http.NoBody, StatusCode: http.StatusOK}
	if _, token := request.Context().Value(tokenOf{}).(string); token {
		at.RawQuery = ""
		r.tokens, r.network.checked = append(r.tokens, at.String()), append(r.network.checked, r.checked)
		response.Body = io.NopCloser(strings.NewReader(`{"token": "secret"}`))
		if r.redirect != "" && len(r.tokens) == 1 {
			response.StatusCode = http.StatusFound
			response.Header.Set("Location", r.redirect)
		}
		return response, nil
	}
	if request.Header.Get("Authorization") == "" {
		response.StatusCode = http.StatusUnauthorized
		response.Header.Set("Www-Authenticate", r.challenge)
	}
	return response, nil
}

// get requests the URL of a registry through the rule.
func (n *network) get(ctx context.Context, address string, proxy *url.URL, allowed ...string) error {
	t := &transport{base: route{n, false}, checked: route{n, true}, data: route{n, false}}
	if proxy != nil {
		t.proxy = http.ProxyURL(proxy)
	}
	for _, host := range allowed {
		if err := t.allowed.Set(host); err != nil {
			return err
		}
	}
	client := &auth.Client{Client: &http.Client{Transport: t}, Cache: &cache{auth.NewCache()},
		Credential: auth.StaticCredential(mustHost(address), auth.Credential{Username: "robot", Password: "secret"})}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return response.Body.Close()
}

func mustHost(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	return at.Host
}

func bearer(realm string) string { return fmt.Sprintf(`Bearer realm="%s",service="test"`, realm) }

// The realms are those of the public registries, and those that self-hosted ones have by their manuals.
func TestTheRealmsOfRegistriesPass(t *testing.T) {
	resolve(t, public)
	for _, test := range []struct {
		name, registry, realm string
		// checked is true if the address is checked when it is dialed.
		checked bool
		allowed []string
	}{
		{"Docker Hub", "https://registry-1.docker.io/v2/", "https://auth.docker.io/token", true, nil},
		{"GHCR", "https://ghcr.io/v2/", "https://ghcr.io/token", false, nil},
		{"GCR", "https://gcr.io/v2/", "https://gcr.io/v2/token", false, nil},
		{"Artifact Registry", "https://europe-docker.pkg.dev/v2/", "https://europe-docker.pkg.dev/v2/token", false, nil},
		{"ACR", "https://example.azurecr.io/v2/", "https://example.azurecr.io/oauth2/token", false, nil},
		{"GitLab", "https://registry.gitlab.com/v2/", "https://gitlab.com/jwt/auth", true, nil},
		{"GitLab of one's own, at another port of its host", "https://gitlab.example:5050/v2/", "https://gitlab.example/jwt/auth", false, nil},
		{"Harbor", "https://harbor.example/v2/", "https://harbor.example/service/token", false, nil},
		{"Harbor at a port", "https://harbor.example:8443/v2/", "https://harbor.example:8443/service/token", false, nil},
		{"Harbor without TLS", "http://harbor.example/v2/", "http://harbor.example:80/service/token", false, nil},
		{"quay", "https://quay.io/v2/", "https://quay.io/v2/auth", false, nil},
		{"ECR Public", "https://public.ecr.aws/v2/", "https://public.ecr.aws/token/", false, nil},
		{"DigitalOcean", "https://registry.digitalocean.com/v2/", "https://api.digitalocean.com/v2/registry/auth", true, nil},
		{"JFrog", "https://example.jfrog.io/v2/", "https://example.jfrog.io/v2/token", false, nil},
		{"a registry of this machine", "http://127.0.0.1:5000/v2/", "http://127.0.0.1:5000/token", false, nil},
		{"a registry in the cluster, named in another case", "http://registry.registry.svc:5000/v2/", "http://Registry.registry.svc:5000/token", false, nil},
		{"an allowed port of the registry's host", "http://127.0.0.1:5000/v2/", "http://127.0.0.1:5001/token", false, []string{"127.0.0.1:5001"}},
		{"an allowed internal address", "https://registry.example/v2/", "https://10.0.0.7/token", false, []string{"other.example,10.0.0.7"}},
		{"an allowed address of IPv6", "https://registry.example/v2/", "https://[fd00::7]:8443/token", false, []string{"[fd00::7]:8443"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := &network{challenge: bearer(test.realm)}
			if err := n.get(t.Context(), test.registry, nil, test.allowed...); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(n.tokens, []string{test.realm}) || !slices.Equal(n.checked, []bool{test.checked}) {
				t.Errorf("requested tokens at %v, checked %v, want %s, checked %v", n.tokens, n.checked, test.realm, test.checked)
			}
		})
	}
}

// ECR has no tokens: its credentials are sent to the registry itself.
func TestARegistryWithoutTokensPasses(t *testing.T) {
	resolve(t, "10.0.0.7") // a registry may have an internal address
	n := &network{challenge: `Basic realm="https://1234.dkr.ecr.eu-central-1.amazonaws.com/",service="ecr.amazonaws.com"`}
	if err := n.get(t.Context(), "https://1234.dkr.ecr.eu-central-1.amazonaws.com/v2/", nil); err != nil || len(n.tokens) > 0 {
		t.Errorf("requested %v: %v", n.tokens, err)
	}
}

func TestRealmsAreRefused(t *testing.T) {
	const registry = "https://registry.example/v2/"
	for _, test := range []struct {
		name, registry, realm, address string
		// host is that of the *RefusedError; empty for an error of oras-go.
		host    string
		allowed []string
	}{
		{"another port of the registry's host", "http://127.0.0.1:5000/v2/", "http://127.0.0.1:6443/token", public, "127.0.0.1:6443", nil},
		{"another port of the registry's host, by the default port", "http://10.0.0.7:5000/v2/", "http://10.0.0.7/token", public, "10.0.0.7:80", nil},
		{"another port than the allowed one", "http://127.0.0.1:5000/v2/", "http://127.0.0.1:6443/token", public, "127.0.0.1:6443", []string{"127.0.0.1:5001"}},
		{"an address of the machine", registry, "https://127.0.0.1/token", public, "127.0.0.1:443", nil},
		{"an address of the machine, by IPv6", registry, "https://[::ffff:127.0.0.1]/token", public, "[::ffff:127.0.0.1]:443", nil},
		{"the metadata of a cloud", "http://registry.example/v2/", "http://169.254.169.254/latest", public, "169.254.169.254:80", nil},
		{"shared addresses", registry, "https://100.100.100.200/", public, "100.100.100.200:443", nil},
		{"a name of an internal address", registry, "https://auth.example/token", "10.0.0.7", "auth.example:443", nil},
		{"another name than the allowed one", registry, "https://auth.example/token", "10.0.0.7", "auth.example:443", []string{"example"}},
		{"http below https", registry, "http://auth.example/token", public, "", nil},
		{"http below https at the registry's host", registry, "http://registry.example:5001/token", public, "", nil},
		{"http below https at an allowed host", registry, "http://auth.example/token", public, "", []string{"auth.example:80"}},
		{"another scheme", registry, "ftp://auth.example/token", public, "", nil},
		{"a host that claims to be allowed", registry, "https://registry.example/token#10.0.0.7", public, "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			resolve(t, test.address)
			n := &network{challenge: bearer(test.realm)}
			err := n.get(t.Context(), test.registry, nil, test.allowed...)
			if err == nil || len(n.tokens) > 0 {
				t.Fatalf("requested %v: %v", n.tokens, err)
			}
			refused := new(RefusedError)
			if got := errors.As(err, &refused); got != (test.host != "") || refused.Host != test.host {
				t.Errorf("refused %+v, want the host %q: %v", refused, test.host, err)
			}
		})
	}
}

// Split horizon: the name has an internal address here.
func TestAnAllowedHostMayBeInternal(t *testing.T) {
	resolve(t, "10.0.0.7")
	n := &network{challenge: `Bearer realm="https://gitlab.example/jwt/auth?account=a",service="registry"`, redirect: "/again"}
	err := n.get(t.Context(), "https://registry.example/v2/", nil, "gitlab.example")
	if want := []string{"https://gitlab.example/jwt/auth"}; !slices.Equal(n.tokens, want) {
		t.Errorf("requested %v, want %v", n.tokens, want)
	}
	if err == nil || !strings.Contains(err.Error(), "gitlab.example") {
		t.Errorf("a redirect inside of the network passes: %v", err)
	}
}

func TestARedirectOfATokenRequestIsChecked(t *testing.T) {
	resolve(t, public)
	for _, test := range []struct {
		name, registry, realm, to string
		passes                    bool
	}{
		{"to a public host", "https://registry.example/v2/", "https://auth.example/token", "https://other.example/token", true},
		{"to an internal address", "https://registry.example/v2/", "https://auth.example/token", "https://10.0.0.7/token", false},
		{"to another port of the registry's host", "http://registry.example:5000/v2/", "http://auth.example/token", "http://registry.example:6443/token", false},
		{"below https", "https://registry.example/v2/", "https://auth.example/token", "http://auth.example/token", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := &network{challenge: bearer(test.realm), redirect: test.to}
			err := n.get(t.Context(), test.registry, nil)
			if passed := err == nil && len(n.tokens) == 2; passed != test.passes {
				t.Errorf("requested %v: %v", n.tokens, err)
			}
		})
	}
}

// The proxy resolves the name itself, and often has an internal address.
func TestAProxyIsNotCheckedAtDial(t *testing.T) {
	resolve(t, public)
	n := &network{challenge: bearer("https://auth.example/token")}
	if err := n.get(t.Context(), "https://registry.example/v2/", &url.URL{Scheme: "http", Host: "10.0.0.1:3128"}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(n.checked, []bool{false}) {
		t.Errorf("requested %v, checked %v", n.tokens, n.checked)
	}
}

// The name of the token host has another address when it is dialed: DNS rebinding.
func TestTheAddressIsCheckedAgainAtDial(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		t.Error("the internal service was requested")
		_, _ = w.Write([]byte(`{"token": "internal"}`))
	}))
	defer inside.Close()
	realm := "http://auth.example:" + inside.URL[strings.LastIndex(inside.URL, ":")+1:] + "/token"
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Www-Authenticate", bearer(realm))
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer registry.Close()
	resolve(t, public, public, "127.0.0.1") // for the two checks, and then for the request

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	client := NewClient(http.DefaultTransport.(*http.Transport).Clone(), Hosts{}, func(base http.RoundTripper) http.RoundTripper { return base })
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, registry.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err == nil {
		_ = response.Body.Close()
	}
	if refused := new(RefusedError); !errors.As(err, &refused) || !strings.HasPrefix(refused.Host, "auth.example:") {
		t.Errorf("Do() = %v", err)
	}
}

func TestHostsOfTheFlag(t *testing.T) {
	for _, test := range []struct {
		name, list, want string
		fails            bool
	}{
		{"a host", "auth.example", "auth.example:443", false},
		{"hosts with ports, in any case", "Auth.example:8443,[fd00::7]:80", "auth.example:8443,[fd00::7]:80", false},
		{"a URL", "https://auth.example", "", true},
		{"a path", "auth.example/token", "", true},
		{"a user", "me@auth.example", "", true},
		{"nothing", "", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var hosts Hosts
			if err := hosts.Set(test.list); (err != nil) != test.fails || hosts.String() != test.want {
				t.Errorf("Set(%q) = %v, %q", test.list, err, hosts.String())
			}
		})
	}
}
