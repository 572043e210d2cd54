// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/catalog/violation"
)

// A file that is not looked at line by line has no line that would be reported, and the last line is found from the end as
// from the beginning.
func TestWhatIsSearchedAsAWholeIsWhatLinesSay(t *testing.T) {
	parts := strings.Split("a,: b, ,\n,\r\n,\r,---,--- ,--- a,...,#,# c,%,%a,\t,\u0085,\u2028,\u2029,\u2030,\ufeff,\u00c2", ",")
	random := rand.New(rand.NewPCG(1, 2))
	ordinary := 0
	for range 50_000 {
		var data []byte
		for range random.IntN(8) {
			data = append(data, parts[random.IntN(len(parts))]...)
		}
		var found violation.Findings
		checkEachLine(data, &found)
		if isOrdinary(data) {
			ordinary++
			if len(found.Kept) > 0 {
				t.Errorf("%q: %s", data, found.Kept[0])
			}
		}
		if got, want := endsWithComment(data), lastLineIsComment(data); got != want {
			t.Errorf("%q ends with a comment: %t, want %t", data, got, want)
		}
	}
	if ordinary == 0 {
		t.Error("no file is ordinary")
	}
}

func lastLineIsComment(data []byte) (last bool) {
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && !bytes.HasPrefix(line, []byte("---")) && !bytes.HasPrefix(line, []byte("...")) {
			last = line[0] == '#'
		}
	}
	return last
}
