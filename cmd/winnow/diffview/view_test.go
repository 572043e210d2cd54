// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
)

func TestCode(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{name: "nothing", text: " \n", want: "` `"},
		{name: "markup", text: "<b> *a* @all #1", want: "`<b> *a* @all #1`"},
		{name: "lines", text: "a\n\n- b\r<c>", want: "`a - b <c>`"},
		{name: "backticks inside", text: "a``b", want: "```a``b```"},
		{name: "backticks at the ends", text: "`a`", want: "`` `a` ``"},
		{name: "a long text", text: strings.Repeat("x", 301), want: "`" + strings.Repeat("x", 297) + "...`"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := code(test.text); got != test.want {
				t.Errorf("code(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func TestFenceHoldsWhatWouldEndIt(t *testing.T) {
	got := fence("diff", "+```\n+````\r+</details>\n \x1b[2J\tx")
	want := "`````diff\n+```\n+````\ufffd+</details>\n \ufffd[2J    x\n`````\n"
	if got != want {
		t.Errorf("fence() = %q, want %q", got, want)
	}
}

// reportOf returns a report on a held selection with many large applications.
func reportOf(applications, lines int) *diff.Report {
	s := &diff.Selection{Namespace: "flux-system", Name: "apps", Change: diff.Updated, To: &diff.State{Selected: applications, Available: applications}}
	s.Held = &diff.Held{}
	for i := range applications {
		a := diff.Application{Name: fmt.Sprintf("application-%04d", i), Change: diff.Updated}
		a.Highest = &diff.Step{From: "1.0.0", To: fmt.Sprintf("2.%d.0", i), Kind: diff.StepMajor}
		a.Values = &diff.Values{Field: "defaultValuesBlock", Added: lines, Diff: strings.Repeat("+ä: ````\n", lines)}
		s.Applications = append(s.Applications, a)
		s.Held.Approve = append(s.Held.Approve, a.Name+":major/2")
		s.Held.Reasons = append(s.Held.Reasons, v1alpha1.HeldReason{Application: a.Name, Message: fmt.Sprintf("would rise to 2.%d.0", i)})
		s.Counts.Updated++
	}
	return diff.New(s)
}

func TestMarkdownIsBounded(t *testing.T) {
	tests := []struct {
		applications, lines int
		cut                 bool
	}{{1, 4000, false}, {2, 4000, false}, {3, 4000, true}, {50, 4000, true}, {100, 1, false}, {1000, 1, true}, {5000, 1, true}}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%d applications with %d lines", test.applications, test.lines), func(t *testing.T) {
			var w strings.Builder
			Markdown(&w, reportOf(test.applications, test.lines), false)
			text := w.String()
			if len(text) > maxMarkdown {
				t.Errorf("%d bytes", len(text))
			}
			if folds := strings.Count(text, "<details>"); folds == 0 && test.applications < 5000 || folds != strings.Count(text, "</details>") {
				t.Errorf("%d folds, %d ends", folds, strings.Count(text, "</details>"))
			}
			for _, part := range []string{"left out here", "in short</summary>"} {
				if has := strings.Contains(text, part); has != test.cut && test.applications < 5000 {
					t.Errorf("it has %q: %v", part, has)
				}
			}
			if test.lines > 1 && !strings.Contains(text, "lines of the diff left out") {
				t.Error("nothing says that a diff is cut")
			}
		})
	}
}

// A comment on 1,000 applications with different changes starts with what is held, and contains every name and the lines
// that approve it.
func TestAThousandChangedApplicationsFitAComment(t *testing.T) {
	for name, stat := range map[string]bool{"all": false, "--stat": true} {
		t.Run(name, func(t *testing.T) {
			var w strings.Builder
			Markdown(&w, reportOf(1000, 3), stat)
			text := w.String()
			if len(text) > maxMarkdown {
				t.Errorf("%d bytes", len(text))
			}
			first := "**HELD: 1 CatalogSelection**\n\n### `flux-system/apps`\n\n**HELD: nothing of this is published**\n" +
				"- `application-0000`: `would rise to 2.0.0`\n"
			if !strings.HasPrefix(text, first) {
				t.Errorf("it begins with\n%s\nwant\n%s", text[:300], first)
			}
			approve := "To publish it all the same, add to the CatalogSelection:\n```yaml\nspec:\n  safeguards:\n    approve:\n    - application-0000"
			if !strings.Contains(text, approve) {
				t.Errorf("it lacks\n%s", approve)
			}
			for i := range 1000 {
				if name := fmt.Sprintf("application-%04d", i); !strings.Contains(text, name) {
					t.Fatalf("%s is missing", name)
				}
			}
		})
	}
}

// If not even the names fit, the comment contains the decisions.
func TestACommentHasTheDecisionOfEverySelection(t *testing.T) {
	report := diff.New()
	for i := range 40 {
		one := reportOf(500, 1).Selections[0]
		one.Name = fmt.Sprintf("apps-%02d", i)
		one.Held.Reasons[0].Message += one.Name // another effect
		report.Selections = append(report.Selections, one)
	}
	var w strings.Builder
	Markdown(&w, report, false)
	if len(w.String()) > maxMarkdown || strings.Count(w.String(), "approve:") != 40 || strings.Count(w.String(), "500 applications updated") != 40 {
		t.Errorf("%d bytes, %d approvals", len(w.String()), strings.Count(w.String(), "approve:"))
	}
}

func TestALongListOfMovesIsCut(t *testing.T) {
	s := &diff.Selection{Namespace: "fleet", Name: "a"}
	for i := range maxNames + 2 {
		s.Moves = append(s.Moves, diff.Move{Application: fmt.Sprintf("x%02d", i), To: "fleet/b"})
	}
	got := moves(s, code)
	if len(got) != 1 || !strings.HasPrefix(got[0], "moves from `fleet/a` to `fleet/b`; kept alive by Winnow: `x00`, ") ||
		!strings.HasSuffix(got[0], "`x19` and 2 more") {
		t.Errorf("got %q", got)
	}
}

// Both formats for people have the same content for a small change, and no control characters.
func TestASelectionInBothFormats(t *testing.T) {
	s := &diff.Selection{Namespace: "flux-system", Name: "apps", File: "apps.yaml", Change: diff.Updated}
	s.From, s.To = &diff.State{Revision: "latest@sha256:01"}, &diff.State{Revision: "latest@sha256:02", Selected: 1, Available: 2}
	s.Applications = []diff.Application{
		{Name: "argo\x1b[2Jcd", Change: diff.Added},
		{Name: "loki", Change: diff.Removed, Cause: diff.CauseSpec, Reason: "spec.exclude has it"},
	}
	s.Counts = diff.Counts{Added: 1, Removed: 1}
	report := diff.New(s)
	report.Notes = []string{"a note"}
	for _, test := range []struct {
		name string
		show func(io.Writer)
		want string
	}{
		{"text", func(w io.Writer) { Text(w, report, View{Verbose: true}) }, wantText + "note: a note\n"},
		{"text without its notes", func(w io.Writer) { Text(w, report, View{}) }, wantText + wantCount},
		{"text in lines", func(w io.Writer) { Text(w, report, View{Stat: true}) }, wantLines + wantCount},
		{"markdown", func(w io.Writer) { Markdown(w, report, false) }, wantMarkdown},
	} {
		t.Run(test.name, func(t *testing.T) {
			var w strings.Builder
			test.show(&w)
			if w.String() != test.want {
				t.Errorf("got\n%s\nwant\n%s", w.String(), test.want)
			}
		})
	}
}

const (
	wantHead = `flux-system/apps (apps.yaml): 1 application removed, 1 added (1 of 2
applications selected)
  from sha256:01
  to   sha256:02

`
	wantEnd = `
Unknown without --live: which definitions live in the cluster already
(adoption), and which of them are bypassed.

`
	wantCount = "note: a note\n"
	wantText  = wantHead + `- loki: removed by the edit of the selection, because spec.exclude has it

+ argo [2Jcd: added
` + wantEnd
	wantLines = wantHead + `- loki: removed by the edit of the selection
+ argo [2Jcd: added
` + wantEnd
	wantMarkdown = "### `flux-system/apps (apps.yaml)`\n\n**1 application removed, 1 added (1 of 2 applications selected)**\n\n" +
		"What changes:\n- removed: `loki`\n- added: `argo [2Jcd`\n\n" +
		"Unknown without `--live`: which definitions live in the cluster already (adoption), and which of them are bypassed.\n\n" +
		"<details>\n<summary><code>- loki: removed by the edit of the selection, because spec.exclude has it</code></summary>\n\n\n</details>\n\n" +
		"<details>\n<summary><code>+ argo [2Jcd: added</code></summary>\n\n\n</details>\n\n" +
		"<details>\n<summary>1 note on what is assumed, or not evaluated</summary>\n\n- `a note`\n</details>\n"
)

func TestSeveralNotesAreCounted(t *testing.T) {
	report := diff.New()
	report.Notes = []string{"a note", "another"}
	var text strings.Builder
	Text(&text, report, View{})
	if want := "2 notes on what is assumed, or not evaluated: -v lists them\n"; !strings.HasSuffix(text.String(), want) {
		t.Errorf("got %q, want %q", text.String(), want)
	}
}

func TestAnotherChartIsAnUpgradeInPlace(t *testing.T) {
	for want, fields := range map[string][]diff.Field{
		"another chart, to which what runs is upgraded in place": {{Path: "chart"}},
		"what runs is uninstalled, and installed anew":           {{Path: "chart"}, {Path: "releaseName"}},
	} {
		if got := identityChange(diff.Instance{Backend: "Helm", Identity: fields}); got != want {
			t.Errorf("identityChange(%v) = %q, want %q", fields, got, want)
		}
	}
}
