// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/test/clitest"
)

// namedTests matches "`file_test.go`: `TestOne`, `TestTwo`".
var namedTests = regexp.MustCompile("`([\\w/]+_test\\.go)`: ((?:`(?:Test|Fuzz)\\w+`(?:, )?)+)")

// The tests that the documentation names exist.
func TestDocumentedTestsExist(t *testing.T) {
	named := 0
	for _, page := range pages(t) {
		for _, match := range namedTests.FindAllStringSubmatch(clitest.ReadFile(t, page), -1) {
			file := clitest.ReadFile(t, filepath.Join("../..", match[1]))
			for name := range strings.SplitSeq(match[2], ", ") {
				named++
				if !strings.Contains(file, "func "+strings.Trim(name, "`")+"(") {
					t.Errorf("%s: %s has no %s", page, match[1], name)
				}
			}
		}
	}
	if named == 0 {
		t.Error("the documentation names no tests")
	}
}

// Each row of the table names an existing test, which proves the rule.
func TestEveryRuleOfSafetyNamesATest(t *testing.T) {
	_, rest, _ := strings.Cut(clitest.ReadFile(t, "../../docs/design/safety.md"), "\n| --- |")
	table, _, _ := strings.Cut(rest, "\n\n")
	rows := strings.Split(table, "\n")[1:]
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if tests := cells[len(cells)-1]; len(cells) != 4 || !namedTests.MatchString(tests) {
			t.Errorf("docs/design/safety.md: no test in %s", row)
		}
	}
	if len(rows) < 12 {
		t.Errorf("docs/design/safety.md: only %d rules", len(rows))
	}
}

// Each row of the table names an existing test, which shows the limit.
func TestEveryHostileInputNamesATest(t *testing.T) {
	const page = "../../docs/reliability.md"
	_, section, _ := strings.Cut(clitest.ReadFile(t, page), "\n## Hostile input\n")
	_, rest, _ := strings.Cut(section, "\n| --- |")
	table, _, _ := strings.Cut(rest, "\n\n")
	rows := strings.Split(strings.TrimSpace(table), "\n")[1:]
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if tests := cells[len(cells)-1]; !namedTests.MatchString(tests) {
			t.Errorf("%s: no test in %s", page, row)
		}
	}
	if len(rows) < 35 {
		t.Errorf("%s: only %d inputs", page, len(rows))
	}
}

// Each capability of the documents has one of three answers, and one that works names the tests or pages that show it.
func TestEveryCapabilityOfTheDocumentsHasAnAnswer(t *testing.T) {
	const page = "../../docs/design/documents.tsv"
	answers := map[string]int{}
	for row := range strings.Lines(clitest.ReadFile(t, page)) {
		cells := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if len(cells) != 4 {
			t.Errorf("%s: %d cells in %q", page, len(cells), row)
			continue
		}
		if cells[0] == "document" {
			continue
		}
		answers[cells[2]]++
		if cells[2] == "works" && cells[3] == "" {
			t.Errorf("%s: nothing shows that it works: %s", page, cells[1])
		}
		for shown := range strings.FieldsSeq(cells[3]) {
			file, test, _ := strings.Cut(shown, ":")
			if content := clitest.ReadFile(t, filepath.Join("../..", file)); test != "" && !strings.Contains(content, "func "+test+"(") {
				t.Errorf("%s: %s has no %s", page, file, test)
			}
		}
	}
	if len(answers) != 3 || answers["works"] == 0 || answers["differs"] == 0 || answers["not"] == 0 {
		t.Errorf("%s: the answers are %v", page, answers)
	}
}
