// SPDX-License-Identifier: Apache-2.0

package oci_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/oci"
)

func TestAnnotations(t *testing.T) {
	const created = "org.opencontainers.image.created"
	for _, test := range []struct {
		name  string
		given []string
		epoch string
		want  map[string]string // nil: refused
	}{
		{"none, and not the time of the clock", nil, "", map[string]string{}},
		{"a value may be empty, or an equation", []string{"a=", "b=c=d"}, "", map[string]string{"a": "", "b": "c=d"}},
		{"the time of the environment", nil, "1700000000", map[string]string{created: "2023-11-14T22:13:20Z"}},
		{"a time that is given wins", []string{created + "=2024-01-01T00:00:00Z"}, "1", map[string]string{created: "2024-01-01T00:00:00Z"}},
		{"the last second that can be said", nil, "253402300799", map[string]string{created: "9999-12-31T23:59:59Z"}},
		{"one second more", nil, "253402300800", nil},
		{"a time before 1970", nil, "-1", nil},
		{"a time in words", []string{created + "=yesterday"}, "", nil},
		{"without a value", []string{"a"}, "", nil},
		{"without a key", []string{"=a"}, "", nil},
		{"an address with a user that is no secret", []string{"a=ssh://git@example.com/x"}, "", map[string]string{"a": "ssh://git@example.com/x"}},
		{"an address with a password", []string{"org.opencontainers.image.source=https://ci:secret@example.com/x"}, "", nil},
		{"an address with a password and no key", []string{"https://ci:secret@example.com/x?ref=main"}, "", nil},
		{"an address with a token", []string{"a=https://secret@example.com/x"}, "", nil},
		{"an address with a password and another fault", []string{"a=https://ci:sec%ret@example.com/x"}, "", nil},
		{"an address with a password in a text", []string{"a=see git+ssh://ci:secret@example.com/x"}, "", nil},
		{"a key twice", []string{"a=1", "a=1"}, "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := oci.Annotations(test.given, test.epoch)
			if (err == nil) != (test.want != nil) || err == nil && !maps.Equal(got, test.want) {
				t.Errorf("Annotations() = %v, %v, want %v", got, err, test.want)
			}
		})
	}
}

// An address may have the password of the job that pushes.
func TestSecretsAreNotQuoted(t *testing.T) {
	_, err := oci.Annotations([]string{"a=https://ci:secret@example.com/x"}, "")
	_, other := oci.ParseReference("oci://ci:secret@example.com/x:v1")
	_, key := oci.Annotations([]string{"https://ci:secret@example.com/x?ref=main"}, "")
	for _, err := range []error{err, key, other} {
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v", err)
		}
	}
}
