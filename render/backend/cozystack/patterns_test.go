// SPDX-License-Identifier: Apache-2.0

package cozystack

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// A schema may have a pattern for each of thousands of values, and each takes megabytes once it is compiled.
func TestFewPatternsAreKeptCompiled(t *testing.T) {
	f := fitting{patterns: map[string]*regexp.Regexp{}}
	for i := range 10 * maxCompiled {
		f.match(fmt.Sprint("values.a", i), fmt.Sprintf("^b%d$", i), "a")
		f.match("values.b", "^a$", "a")
		if len(f.patterns) > maxCompiled {
			t.Fatalf("%d patterns are kept", len(f.patterns))
		}
	}
	f.match("values.c", strings.Repeat("x{1000}", 3000), "a")
	if len(f.found) != 10*maxCompiled {
		t.Errorf("%d mismatches are found, want %d", len(f.found), 10*maxCompiled)
	}
}
