// SPDX-License-Identifier: Apache-2.0

package safeguard_test

import (
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/render/safeguard"
)

// Whoever approves another application for a release is told of the values that change with it.
func TestALockedValueOfAnotherApplication(t *testing.T) {
	locking := func(words, all string, locked map[string]string) []safeguard.Definition {
		list := instances(words)
		list[0].Locked = map[string]string{"": all}
		for path, digest := range locked {
			list[0].Locked[path] = digest
		}
		return list
	}
	before := locking("a=app:1.0.0", "x", map[string]string{"cidr": "1"})
	identity := "IdentityChange a application app>other"
	equal(t, lines(safeguard.Compare(before, locking("a=other:1.0.0", "y", map[string]string{"cidr": "2"}))), []string{identity, "LockedValue a cidr 1>2"})
	equal(t, lines(safeguard.Compare(before, locking("a=other:1.0.0", "y", map[string]string{"cidr": "1"}))), []string{identity})
	equal(t, lines(safeguard.Compare(before, locking("a=other:1.0.0", "y", nil))), []string{identity, "LockedValue a cidr 1>unknown"})
}

// A lock that goes together with its value is compared like one that comes.
func TestALockThatGoes(t *testing.T) {
	of := func(locked map[string]string) []safeguard.Definition {
		list := instances("a=app:1.0.0")
		list[0].Locked = locked
		return list
	}
	before := of(map[string]string{"": "x", "cidr": "1"})
	for name, c := range map[string]struct {
		now  map[string]string
		want []string
	}{
		"alone":                           {map[string]string{"": "x"}, nil},
		"while values change":             {map[string]string{"": "y"}, []string{"LockedValue a cidr 1>unknown"}},
		"with values that cannot be read": {nil, []string{"LockedValue a cidr 1>unknown"}},
		"for one of a part of it":         {map[string]string{"": "y", "cidr.v4": "2"}, []string{"LockedValue a cidr 1>unknown", "LockedValue a cidr.v4 unknown>2"}},
		"for another one":                 {map[string]string{"": "x", "port": "2"}, nil},
	} {
		if got := lines(safeguard.Compare(before, of(c.now))); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
