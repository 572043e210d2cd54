package controllers

import (
	"bufio"
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
)

// connectProxy is a proxy for HTTPS that wants a password, and leads everything to one address.
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

// The metadata server of Google's cloud hands out a token, which the registry takes as a password.
func TestARegistryOfACloud(t *testing.T) {
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Metadata-Flavor", "Google")
		if strings.HasSuffix(r.URL.Path, "/token") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"access_token": "token-of-the-cloud", "expires_in": 3600, "token_type": "Bearer"}`)
		}
	}))
	defer metadata.Close()
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(metadata.URL, "http://"))

	const host = "us-docker.pkg.dev" // of Google's, and led elsewhere by the proxy
	cloud, err := system.StartSecureRegistry(t.Context(), "cloud-registry", "oauth2accesstoken", "token-of-the-cloud", host)
	if err != nil {
		t.Fatal(err)
	}
	e := newEnvironment(t)
	proxy := newConnectProxy(t, cloud.Host, "squid", "proxy-password")
	e.proxySecret(proxy.URL, "squid", "proxy-password")
	e.caSecret("authority", cloud)
	to := e.securedRepository(cloud, "oauth2accesstoken", "token-of-the-cloud")
	e.pushed(to, shaped(catalogLayer(applications(t, "argocd"))), func(r *sourcev1.OCIRepository) {
		r.Spec.URL = strings.Replace(r.Spec.URL, cloud.Host, host, 1)
		r.Spec.Provider = "gcp"
		r.Spec.CertSecretRef, r.Spec.ProxySecretRef = reference("authority"), reference("proxy")
	})
	e.selectByManifest()
	e.publish("kkp")
	if hosts := proxy.seen(); len(hosts) == 0 || hosts[0] != host+":443" {
		t.Errorf("the proxy saw %q", hosts)
	}
}
