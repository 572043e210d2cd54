// SPDX-License-Identifier: Apache-2.0

package bounded_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/bounded"
)

func TestCompile(t *testing.T) {
	for name, test := range map[string]struct{ expression, want string }{
		"an expression":       {"^a+$", ""},
		"one at the limit":    {strings.Repeat("a", bounded.MaxExpression), ""},
		"one over it":         {strings.Repeat("a", bounded.MaxExpression+1), "the regular expression is longer than 1000 bytes"},
		"many repetitions":    {strings.Repeat("x{1000}", 3000), "the regular expression is longer than 1000 bytes"},
		"nested repetitions":  {"(?:a{1000}){1000}", "error parsing regexp: invalid repeat count: `{1000}`"},
		"none":                {"(", "error parsing regexp: missing closing ): `(`"},
		"a backreference":     {`(a)\1`, "error parsing regexp: invalid escape sequence: `\\1`"},
		"a lookahead of Perl": {"(?=a)", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`"},
	} {
		compiled, err := bounded.Compile(test.expression)
		if (err == nil) != (test.want == "") || err != nil && err.Error() != test.want || (compiled == nil) != (err != nil) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// The longest expressions that are compiled take little memory.
func TestCostOfExpressions(t *testing.T) {
	for _, part := range []string{"x{1000}", `\pL{1000}`, "(?i:[^k]{1000})", "(?:x?){500}"} {
		expression := strings.Repeat(part, bounded.MaxExpression/len(part))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := bounded.Compile(expression)
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; err != nil || allocated > 100<<20 {
			t.Errorf("%s: allocates %d MB: %v", part, allocated>>20, err)
		} else {
			t.Logf("%s: %d MB", part, allocated>>20)
		}
	}
}
