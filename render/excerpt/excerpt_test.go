// SPDX-License-Identifier: Apache-2.0

package excerpt

import (
	"strings"
	"testing"
)

func TestATextIsCutAtTheBoundaryOfARune(t *testing.T) {
	long := strings.Repeat("ä", 50)
	for _, test := range []struct{ name, got, want string }{
		{"a text within the bound stays", Of(strings.Repeat("a", 80)), strings.Repeat("a", 80)},
		{"a longer one is cut", Of(strings.Repeat("a", 81)), strings.Repeat("a", 80) + "..."},
		{"a rune is kept as a whole or not at all", To(long, 5), "ää..."},
		{"a quoted one is cut before it is quoted", Quoted(long), `"` + strings.Repeat("ä", 40) + `..."`},
		{"of bytes that are no runes something is left out", To("\x80\x80\x80", 2), "..."},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, test.got, test.want)
		}
	}
}

func TestATextIsPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"größe 日本 👍 a\nb": "größe 日本 👍 a\nb", "a\x1b[2J\x00\rb": "a [2J  b", "a\u202eb\u2066\u200b": "a b  ", "a\xffb": "a\ufffdb",
	} {
		if got := Printable(text); got != want {
			t.Errorf("Printable(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestAListIsCut(t *testing.T) {
	for _, test := range []struct{ name, got, want string }{
		{"all fit", Names([]string{"a", "b"}, 2), "a, b"},
		{"the others are counted", Names([]string{"a", "b", "c", "d"}, 2), "a, b and 2 more"},
		{"each is shown as asked for", List([]int{1, 2}, 1, func(n int) string { return strings.Repeat("x", n) }), "x and 1 more"},
		{"clauses are cut", Clauses([]string{"a, b", "c", "d"}, 2, 0, Of), "a, b; c; and 1 more"},
		{"those that are not there are counted", Clauses([]string{"a", "b"}, 2, 3, Of), "a; b; and 3 more"},
		{"all clauses fit", Clauses([]string{"a", "b"}, 2, 0, Of), "a; b"},
		{"nothing is nothing", Names(nil, 2), ""},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, test.got, test.want)
		}
	}
}
