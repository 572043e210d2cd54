// SPDX-License-Identifier: Apache-2.0

package repository

import "testing"

func TestAddressesAreCompared(t *testing.T) {
	tests := map[string]string{
		"https://github.com/Org/Fleet":              "github.com/org/fleet",
		"https://user:secret@github.com/org/fleet/": "github.com/org/fleet",
		"ssh://git@github.com:22/org/fleet.git":     "github.com/org/fleet",
		"git@github.com:org/fleet.git":              "github.com/org/fleet",
		"git@github.com:/org/fleet":                 "github.com/org/fleet",
		"https://github.com/org/other":              "github.com/org/other",
		"/srv/git/fleet.git":                        "",
		"../fleet":                                  "",
		"https://github.com":                        "",
		"":                                          "",
	}
	for address, want := range tests {
		if got := AddressOf(address); got != want {
			t.Errorf("addressOf(%q) = %q, want %q", address, got, want)
		}
	}
}
