// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/finding"
)

// found is the line of a finding.
type found int

func (f found) String() string { return at(int(f)).String() }

func at(line int) finding.Finding {
	return finding.Finding{Path: "a.yaml", Line: line, Message: "is wrong"}
}

func TestTexts(t *testing.T) {
	many := slices.Repeat([]found{1}, 21)
	first := strings.Repeat("a.yaml:1: is wrong; ", 20)
	for _, test := range []struct{ name, got, want string }{
		{"a place", finding.Position("a.yaml", 3), "a.yaml:3"},
		{"a finding in a line", found(3).String(), "a.yaml:3: is wrong"},
		{"one of which no line is known", found(0).String(), "a.yaml: is wrong"},
		{"a list", finding.List([]found{1, 2}, 0), "a.yaml:1: is wrong; a.yaml:2: is wrong"},
		{"a list without those that were omitted", finding.List([]found{1}, 3), "a.yaml:1: is wrong; and 3 more"},
		{"a long list", finding.List(many, 2), first + "and 3 more"},
		{"errors, all of them", fmt.Sprint(kept(0, 1, 1).Errors()), "[a.yaml:1: is wrong a.yaml:1: is wrong]"},
		{"errors without those that were omitted", fmt.Sprint(kept(5, 1).Errors()), "[a.yaml:1: is wrong and 5 more]"},
	} {
		if test.got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, test.got, test.want)
		}
	}
}

// kept returns findings in lines.
func kept(omitted int, lines ...int) (all finding.Findings) {
	for _, line := range lines {
		all.Add(len(lines), at(line))
	}
	for range omitted {
		all.Add(len(lines), at(0))
	}
	return all
}
