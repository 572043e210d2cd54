// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"strings"
	"testing"
)

// A class of clusters shows the change of one of them: the same lines below other keys are no member of it.
func TestWhereValuesChange(t *testing.T) {
	many := strings.Repeat("  other: value\n", 10)
	for _, test := range []struct {
		name          string
		before, other string // the line with "true" becomes "false"
		same          bool
	}{
		{"another key", "server:\n  enabled: true\n", "persistence:\n  enabled: true\n", false},
		{"a key that is out of sight", "server:\n" + many + "  enabled: true\n", "persistence:\n" + many + "  enabled: true\n", false},
		{"another element of a list", "- name: staging\n  enabled: true\n", "- name: production\n  enabled: true\n", false},
		{"a key above a comment", "server:\n# note\n  enabled: true\n", "persistence:\n# note\n  enabled: true\n", false},
		{"another depth", "a:\n  b:\n    enabled: true\n", "a:\n    enabled: true\n", false},
		{"other lines around it", "server:\n  name: one\n  enabled: true\n  last: 1\n", "server:\n  name: two\n\n  enabled: true\n", true},
		{"lines that are cut off", "server:\n  enabled: true\n" + strings.Repeat("  a: true\n", maxDiff/8), "server:\n  enabled: true\n" + strings.Repeat("  b: true\n", maxDiff/8), false},
	} {
		where := func(before string) string {
			return textValues("values", before, strings.ReplaceAll(before, "true", "false")).Where
		}
		if same := where(test.before) == where(test.other); same != test.same {
			t.Errorf("%s: the changes are the same: %t, want %t", test.name, same, test.same)
		}
	}
}
