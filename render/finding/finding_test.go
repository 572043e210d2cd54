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

func (f found) String() string { return finding.Text("a.yaml", int(f), "is wrong") }

func TestTexts(t *testing.T) {
	many := slices.Repeat([]found{1}, 21)
	first := strings.Repeat("a.yaml:1: is wrong; ", 20)
	for _, test := range []struct{ name, got, want string }{
		{"a place", finding.Place("a.yaml", 3), "a.yaml:3"},
		{"a finding in a line", found(3).String(), "a.yaml:3: is wrong"},
		{"one of which no line is known", found(0).String(), "a.yaml: is wrong"},
		{"a list", finding.List([]found{1, 2}, 0), "a.yaml:1: is wrong; a.yaml:2: is wrong"},
		{"a list without those that were omitted", finding.List([]found{1}, 3), "a.yaml:1: is wrong; and 3 more"},
		{"a long list", finding.List(many, 2), first + "and 3 more"},
		{"a violation", finding.Violations([]found{1}, 0), "a.yaml:1: is wrong"},
		{"several", finding.Violations([]found{1}, 1), "2 violations: a.yaml:1: is wrong; and 1 more"},
		{"errors, all of them", fmt.Sprint(finding.Errors(many[:2], 0)), "[a.yaml:1: is wrong a.yaml:1: is wrong]"},
		{"errors without those that were omitted", fmt.Sprint(finding.Errors(many[:1], 5)), "[a.yaml:1: is wrong and 5 more]"},
	} {
		if test.got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, test.got, test.want)
		}
	}
}
