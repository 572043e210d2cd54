// SPDX-License-Identifier: Apache-2.0

package rendering

import (
	"errors"
	"testing"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
)

func TestErrorsOfHelmShowNoValues(t *testing.T) {
	files := []*archive.BufferedFile{{Name: "values.yaml", Data: []byte("password: ''\n")}}
	for _, test := range []struct{ name, given, message, want string }{
		{"a value", "password: kanarie-7d4f", `the password "kanarie-7d4f" is weak`, `the password "***" is weak`},
		{"a value in JSON", "password: <kanarie-7d4f>x", `"\u003ckanarie-7d4f\u003ex" is weak`, `"***" is weak`},
		{"a part between brackets", "password: <kanarie-7d4f>x", "kanarie-7d4f is weak", "*** is weak"},
		{"a key", "{users: {kanarie-7d4f: 1}}", "the user kanarie-7d4f is unknown", "the user *** is unknown"},
		{"a decoded value", "p: aHVudGVyMi1sb25nCg==", "bad token hunter2-long", "bad token ***"},
		{"a part between dots", "token: eyJhbGci.cGF5bG9hZA.c2lnbmF0dXJl", "bad c2lnbmF0dXJl", "bad ***"},
		{"a key that the chart has", "password: a", "the password is weak", "the password is weak"},
		{"values that are no YAML", "a: [kanarie-7d4f", "a: [kanarie-7d4f", "its values are no YAML"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := withoutValues(errors.New(test.message), files, []byte(test.given)).Error(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
