// SPDX-License-Identifier: Apache-2.0

package workspace

import "testing"

func TestPathsStayBelowTheRoot(t *testing.T) {
	for _, test := range []struct{ dir, entry, want string }{
		{".", "a.yaml", "a.yaml"},
		{"a/b", "../c/./d", "a/c/d"},
		{"a/b", "../..", "."},
		{"a", "../../b", ""},
		{".", "..", ""},
		{"a", "/etc/passwd", ""},
		{".", "..a", "..a"},
	} {
		got, err := Join(test.dir, test.entry)
		if (err == nil) != (test.want != "") || got != test.want {
			t.Errorf("%s in %s: %q, %v", test.entry, test.dir, got, err)
		}
	}
}
