// SPDX-License-Identifier: Apache-2.0

package approvalfile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/approvalfile"
)

// Each line is written in the style that the file has, and in quotes where YAML needs them.
func TestLinesAreQuotedWhereYAMLNeedsIt(t *testing.T) {
	long := strings.Repeat("[x] ", 99) + "y"
	for _, line := range []struct{ text, block, brackets string }{
		{"argocd", "argocd", "argocd"},
		{"argocd/*", "argocd/*", "argocd/*"},
		{"argocd/2.13.0:live#2", "argocd/2.13.0:live#2", "'argocd/2.13.0:live#2'"},
		{"on", `"on"`, `"on"`},
		{"1.0", `"1.0"`, `"1.0"`},
		{"1e3", `"1e3"`, `"1e3"`},
		{`db:locked/["a:b/c"].name`, `db:locked/["a:b/c"].name`, `'db:locked/["a:b/c"].name'`},
		{`db:locked/['it''s'].x`, `db:locked/['it''s'].x`, `'db:locked/[''it''''s''].x'`},
		{"db:locked/a: b", "'db:locked/a: b'", "'db:locked/a: b'"},
		{"db:locked/a #b", "'db:locked/a #b'", "'db:locked/a #b'"},
		{"db:locked/a, b", "db:locked/a, b", "'db:locked/a, b'"},
		{"db:locked/{a}", "db:locked/{a}", "'db:locked/{a}'"},
		{"db:locked/a\tb", `"db:locked/a\tb"`, `"db:locked/a\tb"`},
		{`db:locked/a\b`, `db:locked/a\b`, `'db:locked/a\b'`},
		{"db:locked/日本", "db:locked/日本", "'db:locked/日本'"},
		{"db:locked/" + long, "db:locked/" + long, "'db:locked/" + long + "'"},
	} {
		like := func(quote string) string { // as the line before it is written
			if strings.ContainsAny(line.brackets, `'"\`) {
				return line.brackets
			}
			return quote + line.brackets + quote
		}
		for before, after := range map[string]string{
			"  exclude: [b]\n":                                        "  exclude: [b]\n  safeguards:\n    approve:\n    - BLOCK\n",
			"  safeguards:\n    approve:\n    - a\n":                  "  safeguards:\n    approve:\n    - a\n    - BLOCK\n",
			"  safeguards: {approve: [a]}\n":                          "  safeguards: {approve: [a, BRACKETS]}\n",
			"  safeguards: {approve: []}\n":                           "  safeguards: {approve: [BRACKETS]}\n",
			"  safeguards: {}\n":                                      "  safeguards: {approve: [BRACKETS]}\n",
			"  safeguards: null\n":                                    "  safeguards: {approve: [BRACKETS]}\n",
			"  safeguards: {approve: ['a:locked/[''x'']\"', 'b']}\n":  "  safeguards: {approve: ['a:locked/[''x'']\"', 'b', SINGLE]}\n",
			"  safeguards: {approve: ['b', 'a:locked/[''x'']\"']}\n":  "  safeguards: {approve: ['b', 'a:locked/[''x'']\"', SINGLE]}\n",
			"  safeguards: {approve: [\"a:locked/[\\\"x'']\\\\\"]}\n": "  safeguards: {approve: [\"a:locked/[\\\"x'']\\\\\", DOUBLE]}\n",
		} {
			written := strings.NewReplacer("BLOCK", line.block, "BRACKETS", line.brackets, "SINGLE", like("'"), "DOUBLE", like(`"`))
			want := head + "spec:\n" + written.Replace(after)
			got, _, err := approvalfile.Add([]byte(head+"spec:\n"+before), apps, []string{line.text})
			if err != nil || string(got) != want {
				t.Errorf("%s: %v:\n%s\nwant:\n%s", line.text, err, got, want)
				continue
			}
			if found, err := approvalfile.Find(got, apps); err != nil || !slices.Contains(found.Approved(), line.text) {
				t.Errorf("%s: %v", got, err)
			}
		}
	}
}

func TestWhatIsThereIsNotAddedAgain(t *testing.T) {
	content := []byte("---\n" + head + "spec:\n  safeguards:\n    approve:\n    - " + second + "\n    # why\n    - " + first + "\n")
	if got, line, err := approvalfile.Add(content, apps, []string{first, second}); err != nil || string(got) != string(content) || line != 11 {
		t.Errorf("line %d, %v: %s", line, err, got)
	}
	got, line, err := approvalfile.Add(content, apps, []string{first, "loki"})
	if err != nil || string(got) != string(content)+"    - loki\n" || line != 12 {
		t.Errorf("line %d, %v: %s", line, err, got)
	}
}
