// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/selection/expression"
)

// Whatever an expression of 4 KB is, compiling and evaluating it is cheap, or is refused.
func TestCostOfHostileExpressions(t *testing.T) {
	const expensive, nested = "it is too expensive: the limit is 100000 steps", "recursion"
	times := strings.Repeat
	patterns := times(`app.name.matches("(?:x?){500}") || `, 100) + "true"
	for _, test := range []struct{ name, source, want string }{
		{"parentheses", times("(", 2000) + "true" + times(")", 2000), nested},
		{"lists in lists", times("[", 1900) + times("]", 1900) + " == []", nested},
		{"conditions in conditions", times("true ? true : ", 280) + "true", nested},
		{"fields of fields", "app.spec" + times(".a", 2000) + " == 1", nested},
		{"negations", times("!", 4000) + "true", ""},
		{"conjunctions", times("true && ", 500) + "true", ""},
		{"60 loops in loops", times("app.versions.all(v, ", 60) + "true" + times(")", 60), expensive},
		{"a loop over loops", "app.versions.all(a, app.versions.all(b, app.versions.all(c, a != b + c)))", expensive},
		{"lists that double", times("[1, 2, 3, 4, 5, 6, 7, 8].map(x, ", 12) + "1" + times(")", 12) + ".size() == 0", expensive},
		{"characters of a long text", times(`app.annotations.long.split("").size() > 0 && `, 20) + "true", expensive},
		{"a long text that is reversed", times(`app.annotations.long.reverse() != "x" && `, 20) + "true", expensive},
		{"a pattern with 500,000 states", `app.annotations.long.matches("` + times("x{1000}", 500) + `")`, expensive},
		{"a hundred patterns", patterns, ""},
		{"nested repetitions", `app.name.matches("(?:a{1000}){1000}")`, "invalid repeat count"},
		{"5,000 bytes", times(" ", 5000) + "true", "is longer than 4096 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			application := &catalog.Application{Name: "big", Metadata: metadata.Metadata{Annotations: map[string]string{"long": times("x", 64<<10)}}}
			for i := range 100 {
				application.Versions = append(application.Versions, times("1", i+1))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			compiled, err := expression.Compile(test.source)
			if err == nil {
				_, err = compiled.Holds(t.Context(), application, "catalog")
			}
			runtime.ReadMemStats(&after)
			var refused *expression.Error
			if (test.want == "") != (err == nil) || err != nil && (!errors.As(err, &refused) || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 200<<20 {
				t.Errorf("allocated %d MB", allocated>>20)
			} else {
				t.Logf("%d MB", allocated>>20)
			}
		})
	}
}
