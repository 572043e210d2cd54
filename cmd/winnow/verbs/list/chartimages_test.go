// SPDX-License-Identifier: Apache-2.0

package list

import "testing"

func TestAGeneratedFieldHasOnlyWhatIsBelowIt(t *testing.T) {
	for _, test := range []struct {
		field, other string
		want         bool
	}{
		{"", ".a", true}, {".a", ".a", true}, {".a", ".a.b", true}, {".a", ".a[0]", true}, {".a", ".ab", false}, {".a.b", ".a", false}, {"#", ".a", false},
	} {
		if got := contains(test.field, test.other); got != test.want {
			t.Errorf("contains(%q, %q) = %t", test.field, test.other, got)
		}
	}
}
