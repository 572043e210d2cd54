// SPDX-License-Identifier: Apache-2.0

package realm_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/winnow-dev/winnow/registry/realm"
)

// A captive portal, a proxy with a login, or the console of a registry at another port answer everything with a page.
func TestAWebPageIsNoRegistry(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	}))
	defer page.Close()
	redirecting := httptest.NewServer(http.RedirectHandler(page.URL+"/login", http.StatusFound))
	defer redirecting.Close()
	missing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
	}))
	defer missing.Close()
	host := func(s *httptest.Server) string { at, _ := url.Parse(s.URL); return at.Host }
	for _, test := range []struct {
		name, method, address string
		want                  *realm.PageError
	}{
		{"a manifest", http.MethodGet, page.URL + "/v2/a/manifests/v1", &realm.PageError{Host: host(page), Page: host(page)}},
		{"the digest of a manifest", http.MethodHead, page.URL + "/v2/a/manifests/v1", &realm.PageError{Host: host(page), Page: host(page)}},
		{"tags", http.MethodGet, page.URL + "/v2/a/tags/list?n=1", &realm.PageError{Host: host(page), Page: host(page)}},
		{"a redirect", http.MethodGet, redirecting.URL + "/v2/a/manifests/v1", &realm.PageError{Host: host(redirecting), Page: host(page)}},
		{"a blob, whose digest is compared", http.MethodGet, page.URL + "/v2/a/blobs/sha256:ab", nil},
		{"a page of an error", http.MethodGet, missing.URL + "/v2/a/manifests/v1", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := realm.NewClient(http.DefaultTransport.(*http.Transport).Clone(), realm.Hosts{}, func(base http.RoundTripper) http.RoundTripper { return base })
			request, err := http.NewRequestWithContext(t.Context(), test.method, test.address, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Do(request)
			if err == nil {
				_ = response.Body.Close()
			}
			got, _ := errors.AsType[*realm.PageError](err)
			if (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}
