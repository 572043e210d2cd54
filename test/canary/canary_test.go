// SPDX-License-Identifier: Apache-2.0

package canary_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/test/canary"
)

func TestIn(t *testing.T) {
	_, second, _ := strings.Cut(canary.Secret, "/")
	for _, test := range []struct {
		name, text string
		want       bool
	}{
		{"the secret", "sent " + canary.Secret + " to", true},
		{"its second part", "sent " + second, true},
		{"its second part in a URL", "p=" + url.QueryEscape(second), true},
		{"the beginning of its second part", "the user 7d4f is unknown", true},
		{"a digest with the same digits", "sha256:287d4ff9", false},
		{"nothing of it", "the password is weak", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := canary.In(test.text); (got != "") != test.want {
				t.Errorf("In(%q) = %q", test.text, got)
			}
		})
	}
}
