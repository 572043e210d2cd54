// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// namedTests matches "`file_test.go`: `TestOne`, `TestTwo`".
var namedTests = regexp.MustCompile("`([\\w/]+_test\\.go)`: ((?:`(?:Test|Fuzz)\\w+`(?:, )?)+)")

// The tests that the documentation names exist.
func TestDocumentedTestsExist(t *testing.T) {
	named := 0
	for _, page := range pages(t) {
		for _, match := range namedTests.FindAllStringSubmatch(readFileString(t, page), -1) {
			file := readFileString(t, filepath.Join("../..", match[1]))
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
	_, rest, _ := strings.Cut(readFileString(t, "../../docs/design/safety.md"), "\n| --- |")
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
	_, section, _ := strings.Cut(readFileString(t, page), "\n## Hostile input\n")
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

// namedScripts matches the scripts of the command line that a page names.
var namedScripts = regexp.MustCompile("`(cmd/winnow/testdata/[\\w/]+\\.txtar)`")

// Each capability of the documents has one of three answers, and one that works names what shows it.
func TestEveryCapabilityOfTheDocumentsHasAnAnswer(t *testing.T) {
	const page = "../../docs/design/documents.md"
	text := readFileString(t, page)
	answers := map[string]int{}
	for row := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(row, "| \n"), " | ")
		if !strings.HasPrefix(row, "| ") || strings.HasPrefix(row, "| ---") || len(cells) == 3 && cells[1] == "state" {
			continue
		}
		if len(cells) != 3 {
			t.Errorf("%s: %d cells in %s", page, len(cells), row)
			continue
		}
		answers[cells[1]]++
		if cells[1] == "**works**" && !namedTests.MatchString(cells[2]) && !namedScripts.MatchString(cells[2]) && !strings.Contains(cells[2], "](") {
			t.Errorf("%s: nothing shows that it works: %s", page, row)
		}
	}
	if len(answers) != 3 || answers["**works**"] == 0 || answers["**differs**"] == 0 || answers["**not**"] == 0 {
		t.Errorf("%s: the answers are %v", page, answers)
	}
	for _, match := range namedScripts.FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join("../..", match[1])); err != nil {
			t.Errorf("%s: %v", page, err)
		}
	}
}
