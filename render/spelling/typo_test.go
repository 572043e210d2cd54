// SPDX-License-Identifier: Apache-2.0

package spelling

import (
	"strings"
	"testing"
)

func TestTypo(t *testing.T) {
	known := []string{"displayName", "labels", "tier", "url", "versions"}
	for _, test := range []struct{ name, wanted, want string }{
		{"two letters swapped", "displayNaem", "displayName"},
		{"two letters swapped in a short name", "teir", "tier"},
		{"a letter missing", "lables", "labels"},
		{"a letter too much", "versionss", "versions"},
		{"two letters wrong", "disploiName", "displayName"},
		{"another case, however much of it", "VERSIONS", "versions"},
		{"three letters wrong", "dasploiName", ""},
		{"two letters of a short name", "time", ""},
		{"a letter of a short name", "uri", "url"},
		{"a part is no misspelling", "display", ""},
		{"nothing is known that is near", "replicas", ""},
		{"the name itself", "labels", "labels"},
		{"a name without end", strings.Repeat("x", maxName+1), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Typo(test.wanted, known); got != test.want {
				t.Errorf("Typo(%q) = %q, want %q", test.wanted, got, test.want)
			}
		})
	}
}
