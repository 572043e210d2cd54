// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/violation"
)

// laughs returns levels of lists, each of ten aliases to the level before.
func laughs(levels int) string {
	text := "l0: &l0 x\n"
	for i := 1; i <= levels; i++ {
		aliases := strings.Repeat(fmt.Sprintf("*l%d,", i-1), 10)
		text += fmt.Sprintf("l%d: &l%d [%s]\n", i, i, aliases)
	}
	return text
}

// chain returns anchored mappings, each with the one before as its only member.
func chain(length int) string {
	text := "c1: &c1 {}\n"
	for i := 2; i <= length; i++ {
		text += fmt.Sprintf("c%d: &c%d {a: *c%d}\n", i, i, i-1)
	}
	return text
}

func TestLoadRefusesHostileDocuments(t *testing.T) {
	const path = "applications/x/application.yaml"
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	for _, test := range []struct {
		name, hostile string
		want          []string
	}{
		{"100 levels are read", "a: " + nested(99), nil},
		{"101 levels are not", "a:\n- " + nested(99), []string{path + ":10: is nested deeper than 100 levels"}},
		{"9,000 levels are not", "a: " + nested(9000), []string{path + ":9: is nested deeper than 100 levels"}},
		{"the parser refuses a million levels itself", "a: " + strings.Repeat("[", 1_000_000), []string{path + ":9: is not valid YAML: exceeded max depth of 10000"}},
		{"aliases may lead to 100 levels", chain(98) + "z: *c98\n", nil},
		{"aliases may not lead to 101 levels", "c0:\n- 0\n" + chain(101), []string{path + `:110: is nested deeper than 100 levels by the alias "*c99"`}},
		{"a thousand laughs are read", laughs(3), nil},
		{"a billion laughs are refused", laughs(9), []string{path + ":14: has aliases that expand to more than 100000 nodes"}},
		{"many aliases of a large node are refused", "a: &a [" + strings.Repeat("x,", 1000) + "]\nb: [" + strings.Repeat("*a,", 100) + "]\n", []string{path + ":10: has aliases that expand to more than 100000 nodes"}},
		{"many aliases of a long text are refused", "a: &a " + strings.Repeat("x", 10000) + "\nb: [" + strings.Repeat("*a,", 105) + "]\n", []string{path + ":10: has aliases that expand to more than 1048576 bytes"}},
		{"merges count as aliases", "m0: &m0 {" + strings.Repeat("x,", 1) + "}\n" + merges(20), []string{path + ":23: has aliases that expand to more than 100000 nodes"}},
		{"an alias to what holds it is refused", "a: &a\n- b\n- *a\n", []string{path + `:11: has an alias that refers to itself: "*a"`}},
		{"an alias as a key to what holds it is refused", "a: &a\n  *a : b\n", []string{path + `:10: has an alias that refers to itself: "*a"`}},
		{"a merge of what holds it is refused", "a: &a\n  <<: *a\n", []string{path + `:10: has an alias that refers to itself: "*a"`}},
		{"1 MiB is read", fill(1 << 20), nil},
		{"more than 1 MiB is not", fill(1<<20 + 1), []string{path + ": is larger than 1048576 bytes"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			start := time.Now()
			compare(t, violations(t, files{path: definition("x", "1.0.0") + test.hostile}.fs()), test.want)
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

func merges(levels int) string {
	var text string
	for i := 1; i <= levels; i++ {
		text += fmt.Sprintf("m%d: &m%d {<<: [*m%d, *m%d]}\n", i, i, i-1, i-1)
	}
	return text
}

// fill returns what makes a document as long as size.
func fill(size int) string {
	return "a: " + strings.Repeat("x", size-len(definition("x", "1.0.0"))-3)
}

func TestLoadBoundsWhatItReports(t *testing.T) {
	content := files{}
	for i := range 30 {
		content[fmt.Sprintf("applications/%02d/application.yaml", i)] = definition("x") + strings.Repeat("spec: {}\n", 150)
	}
	_, err := catalog.Load(context.Background(), content.fs())
	var invalid *violation.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("Load() = %v, want an InvalidError", err)
	}
	// 150 duplicate keys in each file and one name 30 times.
	const total = 30*150 + 29
	if len(invalid.Violations) != 1000 || invalid.Omitted != total-1000 {
		t.Errorf("%d violations and %d omitted, want 1000 and %d", len(invalid.Violations), invalid.Omitted, total-1000)
	}
	if text := err.Error(); len(text) > 4000 || !strings.HasSuffix(text, fmt.Sprintf("; and %d more", total-20)) {
		t.Errorf("Error() = %q", text)
	}
}
