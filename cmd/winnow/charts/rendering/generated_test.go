// SPDX-License-Identifier: Apache-2.0

package rendering

import (
	"slices"
	"testing"
)

func TestDiffering(t *testing.T) {
	for _, test := range []struct {
		name, text, again string
		want              []string
	}{
		{"a field", "a: {b: 1, c: 2}", "a: {b: 1, c: 3}", []string{".a.c"}},
		{"an element", "a: [1, 2]", "a: [1, 3]", []string{".a[1]"}},
		{"a list of another length", "a: [1]", "a: [1, 2]", []string{".a"}},
		{"a comment", "# x\na: 1", "# y\na: 1", []string{Comments}},
		{"a second document", "a: 1\n---\nb: 1", "a: 1\n---\nb: 2", []string{""}},
		{"no YAML", "a: [", "a: ]", []string{""}},
	} {
		if got := differing(test.text, test.again); !slices.Equal(got, test.want) {
			t.Errorf("%s: differing() = %q, want %q", test.name, got, test.want)
		}
	}
}
