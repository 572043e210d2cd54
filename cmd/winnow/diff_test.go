package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want := readFileString(t, file); got != want {
		t.Errorf("%s is not what is printed, which is\n%s", file, got)
	}
}

// One change of everything, with a catalog that tries to break out of the comment.
func TestDiffInEveryFormat(t *testing.T) {
	for format, file := range map[string]string{formatText: "want.txt", formatMarkdown: "want.md", formatJSON: "want.json"} {
		t.Run(format, func(t *testing.T) {
			got := execute(t.Context(), "diff", "-f", "testdata/diff/edited.yaml", "--from-selection", "testdata/diff/selection.yaml",
				"--from", "testdata/diff/before", "--to", "testdata/diff/after", "-o", format)
			if got.code != exitOK || got.stderr != "" {
				t.Fatalf("exit code %d: %s", got.code, got.stderr)
			}
			golden(t, "testdata/diff/"+file, got.stdout)
		})
	}
}

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

// reportOf returns a report on a selection with many large applications that are held.
func reportOf(applications, lines int) *diff.Report {
	s := &diff.Selection{Namespace: "flux-system", Name: "apps", Change: diff.Updated, To: &diff.State{Selected: applications, Available: applications}}
	s.Held = &diff.Held{Approve: []string{"sha256:" + strings.Repeat("0a", 32)}}
	for i := range applications {
		a := diff.Application{Name: fmt.Sprintf("application-%04d", i), Change: diff.Updated}
		a.Highest = &diff.Step{From: "1.0.0", To: fmt.Sprintf("2.%d.0", i), Kind: diff.StepMajor}
		a.Values = &diff.Values{Field: "defaultValuesBlock", Added: lines, Diff: strings.Repeat("+ä: ````\n", lines)}
		s.Applications = append(s.Applications, a)
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
			(*diffView)(reportOf(test.applications, test.lines)).markdown(&w)
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

// Of 1,000 applications that change, each in another way, a comment has the line that approves first, then
// every name.
func TestAThousandChangedApplicationsFitAComment(t *testing.T) {
	for name, v := range map[string]view{"all": (*diffView)(reportOf(1000, 3)), "--stat": (*statView)(reportOf(1000, 3))} {
		t.Run(name, func(t *testing.T) {
			var w strings.Builder
			v.markdown(&w)
			text := w.String()
			if len(text) > maxMarkdown {
				t.Errorf("%d bytes", len(text))
			}
			first := "### `flux-system/apps`\n\n**HELD: nothing of this is published**\n\n" + approveHeadline + "\n\n```yaml\n" +
				"spec:\n  safeguards:\n    approve:\n    - sha256:"
			if !strings.HasPrefix(text, first) {
				t.Errorf("it begins with\n%s\nwant\n%s", text[:300], first)
			}
			for i := range 1000 {
				if name := fmt.Sprintf("application-%04d", i); !strings.Contains(text, name) {
					t.Fatalf("%s is missing", name)
				}
			}
		})
	}
}

// What does not even fit as names leaves the decision.
func TestACommentHasTheDecisionOfEverySelection(t *testing.T) {
	report := diff.New()
	for i := range 40 {
		one := reportOf(500, 1).Selections[0]
		one.Name = fmt.Sprintf("apps-%02d", i)
		report.Selections = append(report.Selections, one)
	}
	var w strings.Builder
	(*diffView)(report).markdown(&w)
	if len(w.String()) > maxMarkdown || strings.Count(w.String(), "sha256:") != 40 || strings.Count(w.String(), "500 applications updated") != 40 {
		t.Errorf("%d bytes, %d approvals", len(w.String()), strings.Count(w.String(), "sha256:"))
	}
}
