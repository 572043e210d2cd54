// SPDX-License-Identifier: Apache-2.0

package canary_test

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/test/canary"
)

func TestFormsOfTheSecretAreFound(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       bool
	}{
		{"as it is", "GET: " + canary.Secret + ": EOF", true},
		{"in upper case", strings.ToUpper(canary.Secret), true},
		{"the beginning of it", canary.Secret[:8], true},
		{"escaped in a query", url.QueryEscape(canary.Secret), true},
		{"in base64", base64.StdEncoding.EncodeToString([]byte(canary.Secret)), true},
		{"behind a user in base64", base64.StdEncoding.EncodeToString([]byte("u:" + canary.Secret + "\n")), true},
		{"behind a longer user in base64", base64.URLEncoding.EncodeToString([]byte("me:" + canary.Secret)), true},
		{"another text", "GET https://example.com: 401 Unauthorized", false},
	} {
		if got := canary.In(test.text); (got != "") != test.want {
			t.Errorf("%s: In() = %q", test.name, got)
		}
	}
}
