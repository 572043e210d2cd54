package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/finding"
	"github.com/winnow-dev/winnow/render/lint"
)

const (
	// Up to maxUngrouped findings are printed one by one. Of more, the first maxOfRule of each rule are printed.
	maxUngrouped, maxOfRule = 20, 5
	// unreadableRule is the rule of the finding that a catalog could not be read.
	unreadableRule = "lint/unreadable"
)

// lintReport is the output of lint.
type lintReport struct {
	document
	Applications int `json:"applications"`
	Errors       int `json:"errors"`
	Warnings     int `json:"warnings"`
	Ignored      int `json:"ignored"`
	// Selections is 1 with -f.
	Selections int            `json:"selections,omitempty"`
	Findings   []lint.Finding `json:"findings"`

	// least is the lowest severity in output for people.
	least lint.Severity
	// wrapped wraps lines to the width of a terminal.
	wrapped bool
}

func newLintReport() *lintReport {
	return &lintReport{document: newDocument("LintReport"), Findings: []lint.Finding{}} // [] in JSON, not null
}

// add adds the findings of a catalog.
func (r *lintReport) add(result lint.Result, locate func(string) string) {
	r.Applications += result.Applications
	r.Errors += result.Count(lint.Error)
	r.Warnings += result.Count(lint.Warning)
	r.Ignored += result.Ignored
	for _, finding := range result.Findings {
		finding.Path = locate(finding.Path)
		r.Findings = append(r.Findings, finding)
	}
}

// unreadable adds a finding for a catalog that could not be read. where is empty for the files of --crds.
func (r *lintReport) unreadable(where string, err error) {
	r.Errors++
	r.Findings = append(r.Findings, lint.Finding{
		Rule: unreadableRule, Severity: lint.Error, Path: withoutUsers(where), Message: withoutUsers(plaintext.Line(err.Error())),
	})
}

func (r *lintReport) summary() string {
	var in []string
	if r.Selections > 0 {
		in = append(in, plaintext.Count(r.Selections, "selection"))
	}
	if r.Applications > 0 || len(in) == 0 {
		in = append(in, plaintext.Count(r.Applications, "application"))
	}
	text := fmt.Sprintf("%s, %s in %s", plaintext.Count(r.Errors, "error"), plaintext.Count(r.Warnings, "warning"), strings.Join(in, " and "))
	if r.Ignored > 0 {
		text += fmt.Sprintf(", %d ignored", r.Ignored)
	}
	return text
}

// shownFinding is a finding, or the number of further findings of its rule.
type shownFinding struct {
	lint.Finding
	more int
}

// shown returns the findings in output for people: all of few, and of many the first of each rule and the
// number of the others. unreadable includes catalogs that could not be read, which stderr has, too.
func (r *lintReport) shown(unreadable bool) []shownFinding {
	var all []lint.Finding
	for _, f := range r.Findings {
		if f.Severity.AtLeast(r.least) && (unreadable || f.Rule != unreadableRule) {
			all = append(all, f)
		}
	}
	grouped := len(all) > maxUngrouped
	if grouped {
		order := []lint.Severity{lint.Error, lint.Warning, lint.Info}
		slices.SortStableFunc(all, func(a, b lint.Finding) int {
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
			shown = append(shown, shownFinding{lint.Finding{Rule: all[i].Rule, Severity: all[i].Severity}, 1})
		default:
			shown[len(shown)-1].more++
		}
	}
	return shown
}

// text returns the message of the finding, or the number of further findings.
func (f shownFinding) text() string {
	if f.more > 0 {
		return fmt.Sprintf("and %d more", f.more)
	}
	return f.Message
}

func (r *lintReport) write(w io.Writer, format string) error {
	if format != formatGitHub {
		return write(w, format, r)
	}
	var text strings.Builder
	for _, finding := range r.shown(true) {
		fmt.Fprintln(&text, annotation(finding))
	}
	fmt.Fprintf(&text, "::notice title=winnow lint::%s\n", escapeData.Replace(r.summary()))
	_, err := io.WriteString(w, text.String())
	return err
}

// table prints two lines a finding on a terminal: place and message. Otherwise it prints one, so
// that grep finds both.
func (r *lintReport) table(w io.Writer) {
	for _, f := range r.shown(false) {
		head := strings.TrimLeft(fmt.Sprintf("%s  %s  %s", plaintext.Line(finding.Place(f.Path, f.Line)), f.Severity, f.Rule), " ")
		if r.wrapped {
			fmt.Fprintf(w, "%s\n%s\n", head, plaintext.Wrap(f.text(), "  "))
		} else {
			fmt.Fprintf(w, "%s  %s\n", head, plaintext.Line(f.text()))
		}
	}
}

// markdown prints unreadable catalogs, too: it is for comments on pull requests, which lack stderr.
func (r *lintReport) markdown(w io.Writer) {
	shown := r.shown(true)
	if len(shown) == 0 {
		fmt.Fprintln(w, "Nothing found.")
		return
	}
	g := grid{header: []string{"Where", "Severity", "Rule", "Message"}}
	for _, f := range shown {
		g.rows = append(g.rows, []string{finding.Place(f.Path, f.Line), string(f.Severity), f.Rule, f.text()})
	}
	g.markdown(w)
}

var (
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// annotation returns a workflow command of GitHub Actions.
func annotation(f shownFinding) string {
	command, where := string(f.Severity), ""
	if f.Severity == lint.Info {
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
