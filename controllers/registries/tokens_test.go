// SPDX-License-Identifier: Apache-2.0

package registries

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	ocicontent "oras.land/oras-go/v2/content"
)

// asking returns a registry that directs clients to a realm for their tokens.
func asking(t *testing.T, realm string) (host string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Www-Authenticate", `Bearer realm="`+realm+`",service="test"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// A registry of this machine issues tokens itself, and redirects blobs to a store beside it: both pass.
func TestTokensOfTheRegistryItselfAndRedirectsOfBlobsPass(t *testing.T) {
	const content = "a blob"
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(content)) }))
	defer store.Close()
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/token":
			_, _ = w.Write([]byte(`{"token": "own"}`))
		case r.Header.Get("Authorization") != "Bearer own":
			w.Header().Set("Www-Authenticate", `Bearer realm="http://`+r.Host+`/token"`)
			w.WriteHeader(http.StatusUnauthorized)
		default:
			http.Redirect(w, r, store.URL+"/blob", http.StatusTemporaryRedirect)
		}
	}))
	defer registry.Close()
	connection, err := New(nil, 0).Connect(t.Context(), Access{Field: "spec", Namespace: "none", Insecure: true,
		URL: "oci://" + strings.TrimPrefix(registry.URL, "http://") + "/catalog"})
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	got, err := ocicontent.FetchAll(t.Context(), connection.Blobs(), ocicontent.NewDescriptorFromBytes("", []byte(content)))
	if err != nil || string(got) != content {
		t.Errorf("fetched %q: %v", got, err)
	}
}

// A registry must not direct requests of the controller to other services beside it, whose answer it would get as a token.
func TestARegistryDirectsNoRequestToAnotherPort(t *testing.T) {
	var requests atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		_, _ = w.Write([]byte(`{"token": "internal"}`))
	}))
	defer service.Close()
	host := asking(t, service.URL+"/token")
	connection, err := New(nil, 0).Connect(t.Context(), Access{Field: "spec", Namespace: "none", URL: "oci://" + host + "/catalog", Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	_, err = connection.Resolve(t.Context(), "latest")
	if got := requests.Load(); got != 0 {
		t.Errorf("the service got %d requests", got)
	}
	if err = connection.Plain(err); err == nil || !strings.Contains(err.Error(), "--allowed-token-hosts="+strings.TrimPrefix(service.URL, "http://")) {
		t.Errorf("Resolve() = %v, which does not name the flag", err)
	}
}
