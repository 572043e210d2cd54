// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/finding"
	"github.com/winnow-dev/winnow/render/lint"
	"github.com/winnow-dev/winnow/render/lint/rules"
)

// Lint is the output of lint.
type Lint struct {
	output.Document
	Applications int `json:"applications"`
	Errors       int `json:"errors"`
	Warnings     int `json:"warnings"`
	Ignored      int `json:"ignored"`
	// Selections is 1 with -f.
	Selections int             `json:"selections,omitempty"`
	Findings   []rules.Finding `json:"findings"`

	// Least is the lowest severity that is printed for people.
	Least rules.Severity `json:"-"`
	// Wrapped wraps lines to the width of a terminal.
	Wrapped bool `json:"-"`
}

const (
	// MaxUngrouped findings are printed one by one. Of more, the first maxOfRule of each rule are printed.
	MaxUngrouped, maxOfRule = 20, 5
	// unreadableRule is the rule of the finding that a catalog could not be read.
	unreadableRule = "lint/unreadable"
)

// NewLint returns a report without findings.
func NewLint() *Lint {
	return &Lint{Document: output.NewDocument("LintReport"), Findings: []rules.Finding{}} // [] in JSON, not null
}

// Add adds the findings of a catalog.
func (r *Lint) Add(result lint.Result, locate func(string) string) {
	r.Applications += result.Applications
	r.Errors += result.Count(rules.Error)
	r.Warnings += result.Count(rules.Warning)
	r.Ignored += result.Ignored
	for _, finding := range result.Findings {
		finding.Path, finding.Message = locate(finding.Path), redact.Text(finding.Message)
		r.Findings = append(r.Findings, finding)
	}
}

// Unreadable adds a finding for a catalog that could not be read. where is empty for the files of --crds.
func (r *Lint) Unreadable(where string, err error) {
	r.Errors++
	r.Findings = append(r.Findings, rules.Finding{
		Rule: unreadableRule, Severity: rules.Error, Path: redact.Text(where), Message: redact.Text(plaintext.Line(err.Error())),
	})
}

// Summary counts the findings, in a line.
func (r *Lint) Summary() string {
	var in plaintext.Texts
	in.Add(r.Selections > 0, "%s", plaintext.Count(r.Selections, "selection"))
	in.Add(r.Applications > 0 || len(in) == 0, "%s", plaintext.Count(r.Applications, "application"))
	text := fmt.Sprintf("%s, %s in %s", plaintext.Count(r.Errors, "error"), plaintext.Count(r.Warnings, "warning"), strings.Join(in, " and "))
	if r.Ignored > 0 {
		text += fmt.Sprintf(", %d ignored", r.Ignored)
	}
	return text
}

// shownFinding is a finding, or the number of further findings of its rule.
type shownFinding struct {
	rules.Finding
	more int
}

// shown returns the findings in output for people: all of few, and of many the first of each rule and the
// number of the others. unreadable includes catalogs that could not be read, which stderr has, too.
func (r *Lint) shown(unreadable bool) []shownFinding {
	all := each.Where(r.Findings, func(f rules.Finding) bool {
		return f.Severity.AtLeast(r.Least) && (unreadable || f.Rule != unreadableRule)
	})
	grouped := len(all) > MaxUngrouped
	if grouped {
		order := []rules.Severity{rules.Error, rules.Warning, rules.Info}
		slices.SortStableFunc(all, func(a, b rules.Finding) int {
			return cmp.Or(cmp.Compare(slices.Index(order, a.Severity), slices.Index(order, b.Severity)), cmp.Compare(a.Rule, b.Rule))
		})
	}
	var shown []shownFinding
	for i, n := 0, 0; i < len(all); i++ {
		if n++; i > 0 && all[i].Rule != all[i-1].Rule {
			n = 1
		}
		switch {
		case !grouped || n <= maxOfRule:
			shown = append(shown, shownFinding{Finding: all[i]})
		case n == maxOfRule+1:
			shown = append(shown, shownFinding{rules.Finding{Rule: all[i].Rule, Severity: all[i].Severity}, 1})
		default:
			shown[len(shown)-1].more++
		}
	}
	return shown
}

// text returns the message of the finding, or the number of further findings.
func (f shownFinding) text() string {
	if f.more > 0 {
		return excerpt.More(f.more)
	}
	return f.Message
}

// Write prints the report in a format of winnow lint.
func (r *Lint) Write(w io.Writer, format string) error {
	if format != output.FormatGitHub {
		return output.Write(w, format, r)
	}
	var text strings.Builder
	for _, finding := range r.shown(true) {
		fmt.Fprintln(&text, annotation(finding))
	}
	fmt.Fprintf(&text, "::notice title=winnow lint::%s\n", escapeData.Replace(r.Summary()))
	_, err := io.WriteString(w, text.String())
	return err
}

// Table prints two lines a finding on a terminal: place and message. Otherwise it prints one, so
// that grep finds both.
func (r *Lint) Table(w io.Writer) {
	for _, f := range r.shown(false) {
		head := strings.TrimLeft(fmt.Sprintf("%s  %s  %s", plaintext.Line(finding.Position(f.Path, f.Line)), f.Severity, f.Rule), " ")
		if r.Wrapped {
			fmt.Fprintf(w, "%s\n%s\n", head, plaintext.Wrap(f.text(), "  "))
		} else {
			fmt.Fprintf(w, "%s  %s\n", head, plaintext.Line(f.text()))
		}
	}
}

// Markdown prints unreadable catalogs, too: a comment on a pull request has no stderr.
func (r *Lint) Markdown(w io.Writer) {
	shown := r.shown(true)
	if len(shown) == 0 {
		fmt.Fprintln(w, "Nothing found.")
		return
	}
	g := output.Grid{Header: []string{"Where", "Severity", "Rule", "Message"}}
	for _, f := range shown {
		g.Rows = append(g.Rows, []string{finding.Position(f.Path, f.Line), string(f.Severity), f.Rule, f.text()})
	}
	g.Markdown(w)
}

var (
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// annotation returns a workflow command of GitHub Actions.
func annotation(f shownFinding) string {
	command, where := string(f.Severity), ""
	if f.Severity == rules.Info {
		command = "notice"
	}
	if f.Path != "" {
		where = "file=" + escapeProperty.Replace(f.Path) + ","
	}
	if f.Line > 0 {
		where += fmt.Sprintf("line=%d,", f.Line)
	}
	return fmt.Sprintf("::%s %stitle=%s::%s", command, where, escapeProperty.Replace(f.Rule), escapeData.Replace(f.text()))
}
