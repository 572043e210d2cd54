// SPDX-License-Identifier: Apache-2.0

package registries

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/winnow-dev/winnow/test/canary"
)

// No error of a connection shows a Secret, whatever is wrong with it, and whatever the registry answers.
func TestErrorsShowNoSecret(t *testing.T) {
	quoting := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Www-Authenticate", "Basic")
			status := http.StatusUnauthorized
			if _, password, ok := r.BasicAuth(); ok {
				status = code
				w.Header().Set("Location", "/"+password+"?"+password)
				defer func() {
					_, _ = w.Write([]byte(`{"errors": [{"code": "` + password + `", "message": "` + r.Header.Get("Authorization") + `"}]}`))
				}()
			}
			w.WriteHeader(status)
		}
	}
	valid := func(host string) string {
		return `{"auths": {"` + host + `": {"username": "bot", "password": "` + canary.Secret + `"}}}`
	}
	for _, test := range []struct {
		name    string
		config  func(host string) string
		proxy   string
		handler http.HandlerFunc
	}{
		{"an auth without a colon", func(host string) string {
			return `{"auths": {"` + host + `": {"auth": "a2FuYXJpZS83ZDRmK1pxOTM="}}}`
		}, "", quoting(http.StatusForbidden)},
		{"a configuration that is no JSON", func(string) string { return `{"auths": ["` + canary.Secret }, "", quoting(http.StatusForbidden)},
		{"credentials that are refused", valid, "", quoting(http.StatusForbidden)},
		{"an answer that quotes them", valid, "", quoting(http.StatusBadRequest)},
		{"a redirect that quotes them", valid, "", quoting(http.StatusTemporaryRedirect)},
		{"a proxy with a password that is not there", valid, "http://bot:" + strings.ReplaceAll(canary.Secret, "/", "%2F") + "@127.0.0.1:1", quoting(http.StatusOK)},
		{"a proxy whose address is none", valid, "http://bot:" + canary.Secret + "@127.0.0.1:1", quoting(http.StatusOK)},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(test.handler)
			defer server.Close()
			host := strings.TrimPrefix(server.URL, "http://")
			login := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "none", Name: "login"}, Type: corev1.SecretTypeDockerConfigJson,
				Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(test.config(host))}}
			proxy := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "none", Name: "proxy"}, Data: map[string][]byte{"address": []byte(test.proxy)}}
			access := Access{Field: "spec", Namespace: "none", URL: "oci://" + host + "/catalog", Insecure: true, SecretRef: &meta.LocalObjectReference{Name: "login"}}
			if test.proxy != "" {
				access.ProxySecretRef = &meta.LocalObjectReference{Name: "proxy"}
			}
			connection, err := New(fake.NewFakeClient(login, proxy), 0).Connect(t.Context(), access)
			if err == nil {
				defer connection.Close()
				_, err = connection.Resolve(t.Context(), "latest")
				err = connection.Plain(err)
			}
			if err == nil || canary.In(err.Error()) != "" {
				t.Errorf("the error is %v", err)
			}
			t.Log(err)
		})
	}
}
