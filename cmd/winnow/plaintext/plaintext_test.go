// SPDX-License-Identifier: Apache-2.0

package plaintext_test

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

func TestWrap(t *testing.T) {
	long := strings.Repeat("x", 90)
	tests := []struct{ name, text, want string }{
		{name: "nothing", text: "", want: "  "},
		{name: "a line", text: "a\tb\nc", want: "  a b c"},
		{name: "a word that is too long has a line of its own", text: "a " + long + " b", want: "  a\n  " + long + "\n  b"},
		{
			name: "80 characters fit, 81 do not",
			text: strings.Repeat("y", 76) + " z " + strings.Repeat("y", 77) + " z",
			want: "  " + strings.Repeat("y", 76) + " z\n  " + strings.Repeat("y", 77) + "\n  z",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := plaintext.Wrap(test.text, "  "); got != test.want {
				t.Errorf("Wrap() = %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestBrief(t *testing.T) {
	for text, want := range map[string]string{"": "", "1234567": "1234567", "üüüüüüüü": "üüüü...", "a\nb": "a b"} {
		if got := plaintext.Brief(text, 7); got != want {
			t.Errorf("Brief(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestWhatIsNotPrintableDoesNotReachATerminal(t *testing.T) {
	const text = "  a\tb \x1b[2J\u202ec\r\n"
	if got, want := plaintext.Line(text), "a b [2J c"; got != want {
		t.Errorf("Line() = %q, want %q", got, want)
	}
	if got, want := plaintext.Printable(text), "  a    b \ufffd[2J\ufffdc"; got != want {
		t.Errorf("Printable() = %q, want %q", got, want)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 2: "2 files"} {
		if got := plaintext.Count(n, "file"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}
