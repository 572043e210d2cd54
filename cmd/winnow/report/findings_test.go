// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/lint/rules"
)

// many returns n findings of a rule.
func many(n int, severity rules.Severity, rule string) []rules.Finding {
	var all []rules.Finding
	for i := range n {
		all = append(all, rules.Finding{Rule: rule, Severity: severity, Path: fmt.Sprintf("%s/%04d.yaml", rule, i), Line: 1, Message: "is wrong"})
	}
	return all
}

// Few findings are printed in their order. Of many, the first of each rule are printed, errors first.
func TestManyFindingsAreGroupedByRule(t *testing.T) {
	few := &Lint{Least: rules.Info, Findings: append(many(15, rules.Info, "b/info"), many(5, rules.Error, "a/error")...)}
	var got strings.Builder
	few.Table(&got)
	if lines := strings.Split(got.String(), "\n"); len(lines) != 21 || lines[0] != "b/info/0000.yaml:1  info  b/info  is wrong" {
		t.Errorf("20 findings are\n%s", got.String())
	}
	var findings []rules.Finding
	findings = append(findings, many(1000, rules.Info, "a/info")...)
	findings = append(findings, many(6, rules.Warning, "b/warning")...)
	findings = append(findings, many(5, rules.Error, "z/error")...)
	findings = append(findings, many(7, rules.Error, "c/error")...)
	lines := func(rule, severity, more string, n int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "%s/%04d.yaml:1  %s  %s  is wrong\n", rule, i, severity, rule)
		}
		if more != "" {
			fmt.Fprintf(&text, "%s  %s  and %s more\n", severity, rule, more)
		}
		return text.String()
	}
	for _, test := range []struct {
		least rules.Severity
		want  string
	}{
		{rules.Info, lines("c/error", "error", "2", 5) + lines("z/error", "error", "", 5) +
			lines("b/warning", "warning", "1", 5) + lines("a/info", "info", "995", 5)},
		{rules.Warning, lines("b/warning", "warning", "", 6) + lines("z/error", "error", "", 5) + lines("c/error", "error", "", 7)},
		{rules.Error, lines("z/error", "error", "", 5) + lines("c/error", "error", "", 7)},
	} {
		got.Reset()
		(&Lint{Least: test.least, Findings: findings}).Table(&got)
		if got.String() != test.want {
			t.Errorf("least %s:\n%swant\n%s", test.least, got.String(), test.want)
		}
	}
}

// A terminal has 80 columns. In a pipe, grep needs whole lines.
func TestOnlyATerminalIsWrapped(t *testing.T) {
	message := strings.Repeat("word ", 30) + "end"
	findings := []rules.Finding{{Rule: "a/b", Severity: rules.Error, Path: "a.yaml", Line: 1, Message: message}}
	for wrapped, want := range map[bool]string{
		false: "a.yaml:1  error  a/b  " + message + "\n",
		true: "a.yaml:1  error  a/b\n  " + strings.TrimSpace(strings.Repeat("word ", 15)) + "\n  " +
			strings.TrimSpace(strings.Repeat("word ", 15)) + " end\n",
	} {
		var got strings.Builder
		(&Lint{Least: rules.Info, Wrapped: wrapped, Findings: findings}).Table(&got)
		if got.String() != want {
			t.Errorf("wrapped %t:\n%swant\n%s", wrapped, got.String(), want)
		}
	}
}

func TestAnnotationEscapesWhatEndsACommand(t *testing.T) {
	finding := shownFinding{Finding: rules.Finding{
		Rule: "kkp/a,b", Severity: rules.Warning, Path: "a,b:c%/\n::error::x", Line: 3, Message: "50%\r\n::error::boo",
	}}
	want := "::warning file=a%2Cb%3Ac%25/%0A%3A%3Aerror%3A%3Ax,line=3,title=kkp/a%2Cb::50%25%0D%0A::error::boo"
	if got := annotation(finding); got != want {
		t.Errorf("annotation() = %q\nwant %q", got, want)
	}
}
