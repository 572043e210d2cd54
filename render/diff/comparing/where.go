// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// whereChanged identifies the changed lines of a unified diff of two texts in YAML, each with the keys that it is below: the
// lines above it that are indented less. The same line below another key is another change.
func whereChanged(hunks, before, after string) string {
	removed, added := belowKeys(before), belowKeys(after)
	from, to := 0, 0
	sum := sha256.New()
	for line := range strings.Lines(hunks) {
		switch line[0] {
		case '@':
			if _, err := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &from, new(int), &to, new(int)); err != nil {
				return hunks
			}
			from, to = max(from-1, 0), max(to-1, 0)
		case '-':
			fmt.Fprintf(sum, "-%x", removed[from])
			from++
		case '+':
			fmt.Fprintf(sum, "+%x", added[to])
			to++
		case ' ':
			from, to = from+1, to+1
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// belowKeys returns a digest of each line with those above it that are indented less.
func belowKeys(text string) [][sha256.Size]byte {
	type key struct {
		indent int
		sum    [sha256.Size]byte
	}
	var all [][sha256.Size]byte
	var keys []key
	for line := range strings.Lines(text) {
		content := strings.TrimLeft(line, " ")
		indent := len(line) - len(content)
		isKey := strings.TrimSpace(content) != "" && content[0] != '#'
		for isKey && len(keys) > 0 && keys[len(keys)-1].indent >= indent {
			keys = keys[:len(keys)-1]
		}
		var above [sha256.Size]byte
		if len(keys) > 0 {
			above = keys[len(keys)-1].sum
		}
		sum := sha256.Sum256(append(above[:], line...))
		if all = append(all, sum); isKey {
			keys = append(keys, key{indent, sum})
		}
	}
	return all
}
