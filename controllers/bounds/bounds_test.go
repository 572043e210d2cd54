// SPDX-License-Identifier: Apache-2.0

package bounds

import (
	"math"
	"strings"
	"testing"
)

func TestTruncate(t *testing.T) {
	for _, test := range []struct {
		name, text string
		limit      int
		want       string
	}{
		{"a text within the limit is unchanged", "aé", 3, "aé"},
		{"a longer text is cut and marked", "abcdef", 5, "ab..."},
		{"no rune is cut in two", "ééé", 5, "é..."},
		{"what controls a terminal is replaced", "a\x1b[2J\u202eb\xff", 20, "a [2J b\ufffd"},
	} {
		if got := Truncate(test.text, test.limit); got != test.want {
			t.Errorf("%s: Truncate(%q, %d) = %q, not %q", test.name, test.text, test.limit, got, test.want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]int32{0: 0, 7: 7, math.MaxInt: math.MaxInt32} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %d, not %d", n, got, want)
		}
	}
}

func TestShortChecksum(t *testing.T) {
	checksum := "sha256:" + strings.Repeat("ab", 32)
	for revision, want := range map[string]string{"latest@" + checksum: "sha256:abababababab", checksum: "sha256:abababababab", "": ""} {
		if got := ShortChecksum(revision); got != want {
			t.Errorf("ShortChecksum(%q) = %q, not %q", revision, got, want)
		}
	}
}

func TestShortRevision(t *testing.T) {
	checksum := "sha256:" + strings.Repeat("ab", 32)
	for revision, want := range map[string]string{
		"latest@" + checksum: "latest@sha256:abababababab",
		checksum:             "sha256:abababababab",
		"main@sha1:1234":     "main@sha1:1234",
		"1.2.3":              "1.2.3",
		"":                   "",
	} {
		if got := ShortRevision(revision); got != want {
			t.Errorf("ShortRevision(%q) = %q, not %q", revision, got, want)
		}
	}
}
