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

func TestAGeneratedFieldHasOnlyWhatIsBelowIt(t *testing.T) {
	for _, test := range []struct {
		field, other string
		want         bool
	}{
		{"", ".a", true}, {".a", ".a", true}, {".a", ".a.b", true}, {".a", ".a[0]", true}, {".a", ".ab", false}, {".a.b", ".a", false}, {"#", ".a", false},
	} {
		if got := (Manifest{Generated: []string{"x", test.field}}).IsGenerated(test.other); got != test.want {
			t.Errorf("IsGenerated(%q) below %q = %t", test.other, test.field, got)
		}
	}
}
