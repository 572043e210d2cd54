// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bufio"
	"context"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/fluxcd/pkg/runtime/secrets"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/test/stack"
)

// connectProxy is a proxy for HTTPS that requires a password, and connects all requests to one address.
type connectProxy struct {
	*httptest.Server
	target, authorization string

	mu    sync.Mutex
	hosts []string
}

func newConnectProxy(t *testing.T, target, user, password string) *connectProxy {
	p := &connectProxy{target: target, authorization: "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.CloseClientConnections)
	t.Cleanup(p.Close)
	return p
}

// ServeHTTP implements http.Handler.
func (p *connectProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect || r.Header.Get("Proxy-Authorization") != p.authorization {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	p.mu.Lock()
	p.hosts = append(p.hosts, r.Host)
	p.mu.Unlock()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer server.Close()
	w.WriteHeader(http.StatusOK)
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	go func() {
		_, _ = io.Copy(server, bufio.NewReader(buffered))
		_ = server.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(conn, server)
}

func (p *connectProxy) seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hosts
}

func (e *environment) proxySecret(address, user, password string) {
	e.Helper()
	secret, err := secrets.MakeProxySecret("proxy", e.namespace, address, user, password)
	if err != nil {
		e.Fatal(err)
	}
	e.create(secret)
}

func TestARegistryBehindAProxy(t *testing.T) {
	e := newEnvironment(t)
	proxy := newConnectProxy(t, secureRegistry.Host, "squid", "proxy-password")
	e.proxySecret(proxy.URL, "squid", "proxy-password")
	e.secured(e.credentialed(func(r *sourcev1.OCIRepository) { r.Spec.ProxySecretRef = reference("proxy") }))
	e.selectByManifest()
	e.publish("kkp")
	if hosts := proxy.seen(); len(hosts) == 0 || hosts[0] != secureRegistry.Host {
		t.Errorf("the proxy saw %q", hosts)
	}
}

// googleHost is the address of a registry of Google.
const googleHost = "us-docker.pkg.dev"

// cloudToken is the token of the metadata server, which the registry accepts as a password.
const cloudToken = "token-of-the-cloud"

// inGoogleCloud simulates the metadata server of Google's cloud, and returns a registry with a certificate for
// an address of Google.
func inGoogleCloud(t *testing.T) *stack.SecureRegistry {
	t.Helper()
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Metadata-Flavor", "Google")
		if strings.HasSuffix(r.URL.Path, "/token") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"access_token": "`+cloudToken+`", "expires_in": 3600, "token_type": "Bearer"}`)
		}
	}))
	t.Cleanup(metadata.Close)
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(metadata.URL, "http://"))
	cloud, err := system.StartSecureRegistry(t.Context(), "cloud-registry", "oauth2accesstoken", cloudToken, googleHost)
	if err != nil {
		t.Fatal(err)
	}
	return cloud
}

// ofGoogle makes the OCIRepository "catalog" refer to the registry of Google.
func (e *environment) ofGoogle(cloud *stack.SecureRegistry, edit func(*sourcev1.OCIRepository)) {
	e.Helper()
	e.caSecret("authority", cloud)
	to := e.securedRepository(cloud, "oauth2accesstoken", cloudToken)
	e.pushed(to, shaped(catalogLayer(applications(e.T, "argocd"))), func(r *sourcev1.OCIRepository) {
		r.Spec.URL = strings.Replace(r.Spec.URL, cloud.Host, googleHost, 1)
		r.Spec.Provider = "gcp"
		edit(r)
	})
	e.selectByManifest()
}

func TestARegistryOfACloud(t *testing.T) {
	cloud := inGoogleCloud(t)
	// The dialer replaces DNS for this address: transports are clones of this one.
	transport := http.DefaultTransport.(*http.Transport)
	dial := transport.DialContext
	t.Cleanup(func() { transport.DialContext = dial })
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == googleHost+":443" {
			address = cloud.Host
		}
		return dial(ctx, network, address)
	}
	e := newEnvironment(t)
	e.ofGoogle(cloud, func(r *sourcev1.OCIRepository) { r.Spec.CertSecretRef = reference("authority") })
	e.publish("kkp")
}

// A tenant's proxy connects to a server of the tenant, with a certificate by the tenant's authority.
func TestNoProxyReadsTheTokenOfTheCloud(t *testing.T) {
	cloud := inGoogleCloud(t)
	for _, test := range []struct {
		name string
		edit func(*sourcev1.OCIRepository)
		want string
	}{
		{"by an authority", func(r *sourcev1.OCIRepository) { r.Spec.CertSecretRef = reference("authority") }, "spec.certSecretRef"},
		{"without authority", func(r *sourcev1.OCIRepository) { r.Spec.Insecure = true }, "spec.insecure"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			proxy := newConnectProxy(t, cloud.Host, "squid", "proxy-password")
			e.proxySecret(proxy.URL, "squid", "proxy-password")
			e.ofGoogle(cloud, func(r *sourcev1.OCIRepository) {
				r.Spec.ProxySecretRef = reference("proxy")
				test.edit(r)
			})
			if _, err := e.tryReconcile("kkp"); err == nil || !strings.Contains(err.Error(), test.want+" with proxySecretRef and provider gcp is not allowed") {
				t.Errorf("Reconcile() = %v", err)
			}
			e.equal("conditions", conditionsOf(e.get("kkp")), retried("FetchFailed"))
			if hosts := proxy.seen(); len(hosts) > 0 {
				t.Errorf("the proxy saw %q", hosts)
			}
		})
	}
}
