// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"oras.land/oras-go/v2/registry/remote/errcode"
)

// shown is an error with another text.
type shown struct {
	text string
	err  error
}

func (e *shown) Error() string { return e.text }
func (e *shown) Unwrap() error { return e.err }

// errorCode matches the error codes of the distribution specification.
var errorCode = regexp.MustCompile(`^[A-Z][A-Z_]{1,40}$`)

// Error returns an error of another library with a text that anyone may read; nil stays nil. It has no secrets and, of URLs,
// no users, passwords and queries. Of the answer of a registry it has the status, the error code and the remedy, and not the
// registry's own text, which could quote the request. remedy returns what follows on a status; nil for nothing.
func (s *Secrets) Error(err error, remedy func(status int) string) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if response, ok := errors.AsType[*errcode.ErrorResponse](err); ok {
		plain := describe(response)
		if remedy != nil {
			plain += remedy(response.StatusCode)
		}
		text = strings.ReplaceAll(text, response.Error(), plain)
	}
	return &shown{Text(s.Hide(text)), err}
}

// describe returns the request, the status and the error code of a response.
func describe(response *errcode.ErrorResponse) string {
	where := ""
	if response.URL != nil {
		where = fmt.Sprintf("%s://%s%s", response.URL.Scheme, response.URL.Host, response.URL.EscapedPath())
	}
	text := fmt.Sprintf("%s %s: %s", response.Method, where, Status(response.StatusCode))
	for _, e := range response.Errors {
		if errorCode.MatchString(e.Code) {
			return text + " (" + e.Code + ")"
		}
	}
	return text
}

// Status returns a status of HTTP with its own words: a server may write others, and quote the request.
func Status(code int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
}
