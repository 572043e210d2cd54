// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Responses, redirects and token requests of a registry may quote credentials. They must not reach logs,
// events, status or errors.
func TestSecretsAreRedactedEverywhere(t *testing.T) {
	const password, token, signature = "s3cret/of the+robot", "refresh-token-of-the-robot", "0123signature"
	basic := base64.StdEncoding.EncodeToString([]byte("robot:" + password))
	for _, test := range []struct {
		name  string
		does  func(http.ResponseWriter, *http.Request)
		flows []string // part of the message
	}{
		{"an error that quotes the password", func(w http.ResponseWriter, r *http.Request) {
			user, sent, _ := r.BasicAuth()
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(map[string]any{"errors": []any{map[string]any{
				"code": "DENIED", "message": user + " with " + sent + " may not", "detail": r.Header["Authorization"],
			}}})
		}, []string{"403 Forbidden (DENIED); the credentials are refused"}},
		{"a code that quotes the password", func(w http.ResponseWriter, r *http.Request) {
			_, sent, _ := r.BasicAuth()
			w.WriteHeader(http.StatusInternalServerError)
			_ = json.NewEncoder(w).Encode(map[string]any{"errors": []any{map[string]any{"code": sent}}})
		}, []string{"500 Internal Server Error"}},
		{"a redirect that is signed", func(w http.ResponseWriter, _ *http.Request) {
			http.Redirect(w, &http.Request{}, "http://127.0.0.1:1/blob?X-Amz-Signature="+signature, http.StatusTemporaryRedirect)
		}, []string{"http://127.0.0.1:1/blob"}},
		{"a redirect into the password", func(w http.ResponseWriter, _ *http.Request) {
			http.Redirect(w, &http.Request{}, "http://127.0.0.1:1/"+url.PathEscape(password), http.StatusTemporaryRedirect)
		}, []string{"http://127.0.0.1:1/***"}},
		{"a header that is broken by the password", func(w http.ResponseWriter, r *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			_, _ = io.WriteString(conn, r.Header.Get("Authorization")+"\r\n\r\n")
			_ = conn.Close()
		}, []string{"malformed HTTP", "***"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, front := newEnvironment(t), newFront(t)
			e.registrySecret("login", front.host(), password)
			e.pushed(e.repositoryAt(front.host()), shaped(catalogLayer(applications(t, "argocd"))), func(r *sourcev1.OCIRepository) {
				r.Spec.SecretRef = reference("login")
			})
			front.does(func(w http.ResponseWriter, r *http.Request) bool {
				if _, _, ok := r.BasicAuth(); !ok {
					w.Header().Set("WWW-Authenticate", `Basic realm="`+token+`"`)
					w.WriteHeader(http.StatusUnauthorized)
					return true
				}
				test.does(w, r)
				return true
			})
			e.selectByManifest(func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Push = &v1alpha1.Push{URL: "oci://" + front.host() + "/" + e.namespace + "/rendered", SecretRef: reference("login"), Insecure: true}
			})
			if _, err := e.tryReconcile("kkp"); err == nil {
				t.Error("Reconcile() succeeded")
			}
			e.edit(func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Sources = []v1alpha1.SourceReference{byContent()}
			})
			e.reconcile("kkp")
			e.push()
			e.reconcile("kkp")
			text := e.everythingWritten()
			for _, secret := range []string{password, url.QueryEscape(password), url.PathEscape(password), basic, token, signature} {
				if strings.Contains(text, secret) {
					t.Errorf("%q is in what was written:\n%s", secret, text)
				}
			}
			for _, part := range append(test.flows, "PushFailed", "FetchFailed", "not pushed") {
				if !strings.Contains(text, part) {
					t.Errorf("%q is not in the output, so that the test proves nothing:\n%s", part, text)
				}
			}
		})
	}
}

// A library quotes the address of a proxy that it cannot parse.
func TestAnInvalidProxyAddressIsNotQuoted(t *testing.T) {
	const password = "proxy-password"
	for name, address := range map[string]string{
		"no URL": "http://squid:" + password + "%zz@proxy.example", "no port": "http://squid:" + password + "@proxy.example:port", "another scheme": "ftp://squid:" + password + "@proxy.example",
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnvironment(t)
			proxy := &corev1.Secret{StringData: map[string]string{"address": address}}
			proxy.Name = "proxy"
			e.create(proxy)
			e.pushed(e.repositoryAt(registryHost), shaped(catalogLayer(applications(t, "argocd"))), func(r *sourcev1.OCIRepository) {
				r.Spec.ProxySecretRef = reference("proxy")
			})
			e.selectByManifest()
			e.suffer(trouble{retry: backoff, message: []string{"spec.proxySecretRef: the Secret ", "/proxy has no valid address"}}, retried("FetchFailed"))
			if text := e.everythingWritten(); strings.Contains(text, password) {
				t.Errorf("the password is in the output:\n%s", text)
			}
		})
	}
}
