// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/winnow-dev/winnow/test/canary"
)

func TestURLsInTexts(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a user and a password", "see https://me:secret@host/x: EOF", "see https://***@host/x: EOF"},
		{"a token as the user", "https://token@host", "https://***@host"},
		{"an @ in the password", "https://me:se@cret@host/x", "https://***@host/x"},
		{"a slash in the password", "https://me:se/cret@host/x", "https://***@host/x"},
		{"the user of Git over SSH", "ssh://git@host/x", "ssh://git@host/x"},
		{"the user git elsewhere", "https://git@host/x", "https://***@host/x"},
		{"a digest", "oci://host/x@sha256:0123", "oci://host/x@sha256:0123"},
		{"a digest behind a port", "oci://host:5000/x@sha256:0123", "oci://host:5000/x@sha256:0123"},
		{"a digest behind an address of IPv6", "oci://[::1]:5000/x@sha256:0123", "oci://[::1]:5000/x@sha256:0123"},
		{"a query", "GET https://host/x?token=secret: 404 Not Found", "GET https://host/x: 404 Not Found"},
		{"a query in quotes", `Get "https://host/x?a=b&token=secret": EOF`, `Get "https://host/x": EOF`},
		{"a query in brackets", "(https://host/x?token=secret), and more", "(https://host/x), and more"},
		{"a query with a URL", "https://host/x?to=https://me:secret@other/?a=b", "https://host/x"},
		{"queries in JSON", `{"a": "see \"https://host/x?a=\\b\" of", "b": "me@host"}`, `{"a": "see \"https://host/x\" of", "b": "me@host"}`},
		{"a question that ends with an address", "(did you mean oci://host/x:v1?) or https://host?", "(did you mean oci://host/x:v1?) or https://host?"},
		{"a query with a bracket", "https://host/x?a=b<secret: EOF", "https://host/x: EOF"},
		{"a query in angle brackets", "<https://host/x?a=b>, and", "<https://host/x>, and"},
		{"a scheme in upper case", "HTTPS://host/x?token=secret: EOF", "HTTPS://host/x: EOF"},
		{"a quote in the password", `parse "https://me:se\"cret@host/x": invalid`, `parse "https://***@host/x": invalid`},
		{"a backslash in the password", `parse "https://me:se\\cret@host/x": invalid`, `parse "https://***@host/x": invalid`},
		{"a bracket in the password", `parse "https://me:se<cret@host/x": invalid`, `parse "https://***@host/x": invalid`},
		{"a space in the password", `parse "https://me:se cret@host/x": invalid`, `parse "https://***@host/x": invalid`},
		{"a port and a digest in quotes", `"oci://host:5000/x@sha256:0123" is`, `"oci://host:5000/x@sha256:0123" is`},
		{"a query that begins with a dot", "https://host/?.secret", "https://host/"},
		{"a question", "is oci://host/x right? yes", "is oci://host/x right? yes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Text(test.text); got != test.want {
				t.Errorf("Text(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func TestSecretsAreHiddenInAllForms(t *testing.T) {
	var s Secrets
	s.Add(canary.Secret, "hunter2", "hunter2-of-the-proxy", "abc", `with "quotes" and \`, "a<b&c>d", "it's-mine")
	encoded := base64.StdEncoding.EncodeToString
	for _, test := range []struct{ name, text, want string }{
		{"as it is", "sent " + canary.Secret + " to", "sent *** to"},
		{"in upper case", "sent " + strings.ToUpper(canary.Secret) + " to", "sent *** to"},
		{"more than once", "hunter2 hunter2", "*** ***"},
		{"a longer one with the same beginning", "hunter2-of-the-proxy", "***"},
		{"in quotes", strconv.Quote(`with "quotes" and \`), `"***"`},
		{"in JSON, which escapes characters of HTML", `sent "a\u003cb\u0026c\u003ed" to`, `sent "***" to`},
		{"in single quotes of YAML", "p: 'it''s-mine'", "p: '***'"},
		{"in hexadecimal digits", "sent 68756e74657232 to", "sent *** to"},
		{"in a query", "p=" + url.QueryEscape(canary.Secret), "p=***"},
		{"in base64", "data " + encoded([]byte(canary.Secret)) + ".", "data ***."},
		{"behind a user in base64", "Basic " + encoded([]byte("bot:"+canary.Secret)) + ".", "Basic ***."},
		{"behind a longer user in base64", "Basic " + encoded([]byte("robot:"+canary.Secret)) + ".", "Basic ***."},
		{"a text beside bytes that are no UTF-8", "\xff\xfe hunter2", "\xff\xfe ***"},
		{"a word that is too short", "abc", "abc"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := s.Hide(test.text); got != test.want {
				t.Errorf("Hide(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func TestErrorsKeepWhatHelps(t *testing.T) {
	at := &url.URL{Scheme: "https", Host: "host", Path: "/v2/x", RawQuery: "token=" + canary.Secret}
	answer := &errcode.ErrorResponse{Method: http.MethodGet, URL: at, StatusCode: http.StatusForbidden, Errors: errcode.Errors{
		{Code: canary.Secret}, {Code: errcode.ErrorCodeDenied, Message: "Authorization: Basic " + canary.Secret},
	}}
	remedy := func(status int) string { return fmt.Sprintf("; what %d is about", status) }
	var s Secrets
	s.Add(canary.Secret)
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"the answer of a registry", fmt.Errorf("pulling: %w", answer), "pulling: GET https://host/v2/x: 403 Forbidden (DENIED); what 403 is about"},
		{"a request", &url.Error{Op: "Get", URL: at.String(), Err: errors.New("EOF")}, `Get "https://host/v2/x": EOF`},
		{"a secret", errors.New("malformed HTTP response " + canary.Secret), "malformed HTTP response ***"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := s.Error(test.err, remedy)
			if got.Error() != test.want || !errors.Is(got, test.err) {
				t.Errorf("Error() = %q, want %q", got, test.want)
			}
		})
	}
	if got := s.Error(nil, remedy); got != nil {
		t.Errorf("Error(nil) = %v", got)
	}
}
