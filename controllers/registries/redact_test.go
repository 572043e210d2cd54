// SPDX-License-Identifier: Apache-2.0

package registries

import (
	"errors"
	"strconv"
	"testing"
)

// The redaction of a secret must not depend on other secrets, nor on quotes around it.
func TestSecretsAreRedacted(t *testing.T) {
	c := &Connection{}
	c.secrets.Add("hunter2", "hunter2-of-the-proxy", `with "quotes" and \`)
	for _, test := range []struct {
		name, text, want string
	}{
		{"a secret", "sent hunter2 to", "sent *** to"},
		{"a secret that begins with another", "sent hunter2-of-the-proxy to", "sent *** to"},
		{"a secret that is quoted", "answered " + strconv.Quote(`with "quotes" and \`), `answered "***"`},
		{"the query of a URL", `Get "https://store.example/blob?signature=0123": EOF`, `Get "https://store.example/blob": EOF`},
		{"lines and bells", "one\ntwo\a", "one two "},
	} {
		t.Run(test.name, func(t *testing.T) {
			cause := errors.New(test.text)
			got := c.Plain(cause)
			if got.Error() != test.want || !errors.Is(got, cause) {
				t.Errorf("Plain() = %q, want %q", got, test.want)
			}
		})
	}
}
