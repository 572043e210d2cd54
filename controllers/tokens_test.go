// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// tokenServer issues the tokens for a registry, like those of large registries: to clients with the password,
// for the requested scope.
type tokenServer struct {
	*httptest.Server
	identity identity

	mu     sync.Mutex
	scopes []string
	issued []string
}

func newTokenServer(t *testing.T) *tokenServer {
	t.Helper()
	s := &tokenServer{identity: newIdentity(t)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP implements http.Handler.
func (s *tokenServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	user, password, ok := r.BasicAuth()
	if !ok || user != registryUser || password != registryPassword {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var access []map[string]any
	for _, scope := range r.Form["scope"] {
		s.scopes = append(s.scopes, scope)
		part := strings.Split(scope, ":")
		access = append(access, map[string]any{"type": part[0], "name": part[1], "actions": strings.Split(part[2], ",")})
	}
	token := s.sign(map[string]any{
		"iss": "test", "aud": r.Form.Get("service"), "exp": time.Now().Add(time.Hour).Unix(), "access": access,
	})
	s.issued = append(s.issued, token)
	_ = json.NewEncoder(w).Encode(map[string]string{"token": token})
}

// taken returns the scopes since the last call.
func (s *tokenServer) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.scopes
	s.scopes = nil
	return taken
}

func (s *tokenServer) sign(claims map[string]any) string {
	part := func(value any) string {
		raw, _ := json.Marshal(value)
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	signed := part(map[string]any{"typ": "JWT", "alg": "ES256", "x5c": []string{base64.StdEncoding.EncodeToString(s.identity.Certificate.Certificate[0])}}) + "." + part(claims)
	sum := sha256.Sum256([]byte(signed))
	a, b, _ := ecdsa.Sign(rand.Reader, s.identity.PrivateKey.(*ecdsa.PrivateKey), sum[:])
	signature := append(a.FillBytes(make([]byte, 32)), b.FillBytes(make([]byte, 32))...)
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// config returns the part of a registry's configuration that refers clients to the token server.
func (s *tokenServer) config(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens.pem")
	if err := os.WriteFile(file, s.identity.certificatePEM, 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("auth:\n  token: {realm: %q, service: test, issuer: test, rootcertbundle: %q, signingalgorithms: [ES256]}\n", s.URL+"/token", file)
}

// allowTokensAt restarts the controller with --allowed-token-hosts.
func (e *environment) allowTokensAt(host string) {
	e.Helper()
	e.restartWith(func(o *Options) {
		if err := o.TokenHosts.Set(host); err != nil {
			e.Fatal(err)
		}
	})
}

// A registry with tokens gets one for the operation: to read, or to read and write.
func TestARegistryWithTokens(t *testing.T) {
	tokens := newTokenServer(t)
	host, process, err := system.StartRegistry(t.Context(), "token-registry", tokens.config(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.Stop(); err != nil {
			t.Error(err)
		}
	})
	e := newEnvironment(t)
	e.allowTokensAt(tokens.Listener.Addr().String())
	e.registrySecret("login", host, registryPassword)
	e.registrySecret("wrong", host, "wrong-password")
	to, err := remote.NewRepository(host + "/" + e.namespace + "/catalog")
	if err != nil {
		t.Fatal(err)
	}
	to.PlainHTTP = true
	to.Client = &auth.Client{Credential: auth.StaticCredential(host, auth.Credential{Username: registryUser, Password: registryPassword})}
	e.pushed(to, shaped(catalogLayer(applications(t, "argocd"))), func(r *sourcev1.OCIRepository) { r.Spec.SecretRef = reference("login") })
	tokens.taken()

	e.selectByManifest(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Push = &v1alpha1.Push{URL: fmt.Sprintf("oci://%s/%s/rendered", host, e.namespace), Insecure: true, SecretRef: reference("wrong")}
	})
	e.reconcile("kkp")
	e.equal("scopes to read", tokens.taken(), []string{"repository:" + e.namespace + "/catalog:pull"})
	e.push()
	e.equal("conditions with a wrong password", conditionsOf(e.reconcile("kkp")), []string{"Pushed=False PushFailed", "Ready=True Succeeded"})
	tokens.taken()
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Push.SecretRef = reference("login") })
	e.reconcile("kkp")
	e.push()
	e.equal("conditions", conditionsOf(e.reconcile("kkp")), []string{"Pushed=True Succeeded", "Ready=True Succeeded"})
	e.equal("scopes to write", tokens.taken(), []string{"repository:" + e.namespace + "/rendered:pull,push"})
	text := e.everythingWritten()
	tokens.mu.Lock()
	defer tokens.mu.Unlock()
	for _, secret := range append(tokens.issued, registryPassword, "wrong-password") {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in what was written", secret)
		}
	}
}
