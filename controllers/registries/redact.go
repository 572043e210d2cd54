// SPDX-License-Identifier: Apache-2.0

package registries

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/winnow-dev/winnow/controllers/bounds"
)

// plainError is an error of a registry that users may read: without secrets, and without the registry's own
// text, which could quote the request.
type plainError struct {
	text string
	err  error
}

func (e *plainError) Error() string { return e.text }
func (e *plainError) Unwrap() error { return e.err }

// maxRegistryError bounds a message about an error of a registry, in bytes.
const maxRegistryError = 1 << 10

var (
	// queries matches queries of URLs, which contain signatures if a registry redirects to a blob store.
	queries = regexp.MustCompile(`(https?://[^\s"?]*)\?[^\s"]*`)
	// userinfo matches the name and the password in a URL, which may contain an @.
	userinfo = regexp.MustCompile(`([a-z]://)[^\s"'/]*@`)
	// errorCode matches the error codes of the distribution specification.
	errorCode = regexp.MustCompile(`^[A-Z][A-Z_]{1,40}$`)
)

// Redact removes possible secrets in URLs from a text, and replaces control characters.
func Redact(text string) string {
	text = userinfo.ReplaceAllString(queries.ReplaceAllString(text, "$1"), "$1***@")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// Plain redacts an error of this connection for users; nil stays nil.
func (c *Connection) Plain(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if response, ok := errors.AsType[*errcode.ErrorResponse](err); ok {
		text = strings.ReplaceAll(text, response.Error(), c.describe(response))
	}
	if errors.Is(err, auth.ErrBasicCredentialNotFound) {
		text = strings.ReplaceAll(text, auth.ErrBasicCredentialNotFound.Error(), "401 Unauthorized"+c.refusal())
	}
	for _, secret := range c.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	text = Redact(text)
	return &plainError{text: bounds.Truncate(text, maxRegistryError), err: err}
}

// describe returns the status of a response, and the remedy.
func (c *Connection) describe(response *errcode.ErrorResponse) string {
	where := ""
	if response.URL != nil {
		where = fmt.Sprintf("%s://%s%s", response.URL.Scheme, response.URL.Host, response.URL.EscapedPath())
	}
	text := fmt.Sprintf("%s %s: %d %s", response.Method, where, response.StatusCode, http.StatusText(response.StatusCode))
	for _, e := range response.Errors {
		if errorCode.MatchString(e.Code) {
			text += " (" + e.Code + ")"
			break
		}
	}
	switch response.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return text + c.refusal()
	case http.StatusTooManyRequests:
		return text + "; the registry is rate-limiting requests"
	}
	return text
}

func (c *Connection) refusal() string {
	if !c.authenticated {
		return "; no credentials were sent: the Secrets have none for this repository, or the registry did not ask"
	}
	return "; the credentials are refused, or have no right to do this"
}
