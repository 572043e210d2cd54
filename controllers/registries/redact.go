// SPDX-License-Identifier: Apache-2.0

package registries

import (
	"net/http"
	"strings"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/registry/redact"
)

// plainError is an error of a registry that users may read, in one line.
type plainError struct {
	text string
	err  error
}

func (e *plainError) Error() string { return e.text }
func (e *plainError) Unwrap() error { return e.err }

// maxRegistryError bounds a message about an error of a registry, in bytes.
const maxRegistryError = 1 << 10

// Plain redacts an error of this connection for users; nil stays nil.
func (c *Connection) Plain(err error) error {
	if err == nil {
		return nil
	}
	text := c.secrets.Error(err, c.remedy).Error()
	text = strings.ReplaceAll(text, auth.ErrBasicCredentialNotFound.Error(), redact.Status(http.StatusUnauthorized)+c.remedy(http.StatusUnauthorized))
	return &plainError{text: bounds.Truncate(redact.Line(text), maxRegistryError), err: err}
}

// remedy returns what a status of the registry is about.
func (c *Connection) remedy(status int) string {
	switch {
	case status == http.StatusTooManyRequests:
		return "; the registry is rate-limiting requests"
	case status != http.StatusUnauthorized && status != http.StatusForbidden:
		return ""
	case !c.authenticated:
		return "; no credentials were sent: the Secrets have none for this repository, or the registry did not ask"
	}
	return "; the credentials are refused, or have no right to do this"
}
