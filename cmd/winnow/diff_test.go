package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

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

// reportOf returns a report on a selection with many large applications.
func reportOf(applications int) *diff.Report {
	s := &diff.Selection{Namespace: "flux-system", Name: "apps", Change: diff.Updated, To: &diff.State{Selected: applications, Available: applications}}
	for i := range applications {
		a := diff.Application{Name: fmt.Sprintf("app-%04d", i), Change: diff.Updated}
		a.Values = &diff.Values{Field: "defaultValuesBlock", Diff: strings.Repeat("+ä: ````\n", 4000)}
		s.Applications = append(s.Applications, a)
		s.Counts.Updated++
	}
	return diff.New(s)
}

func TestMarkdownIsBounded(t *testing.T) {
	for _, applications := range []int{1, 2, 3, 50, 5000} {
		var text strings.Builder
		(*diffView)(reportOf(applications)).markdown(&text)
		if text.Len() > maxMarkdown {
			t.Errorf("%d applications make %d bytes", applications, text.Len())
		}
		if folds := strings.Count(text.String(), "<details>"); folds == 0 || folds != strings.Count(text.String(), "</details>") {
			t.Errorf("%d applications have %d folds", applications, folds)
		}
		if cut := strings.Contains(text.String(), "parts are left out here"); cut != (applications > 2) {
			t.Errorf("%d applications: it says that something is cut: %v", applications, cut)
		}
		if !strings.Contains(text.String(), "defaultValuesBlock") || !strings.Contains(text.String(), "lines of the diff left out") {
			t.Errorf("%d applications: no diff, or nothing said of how it is cut", applications)
		}
	}
}
