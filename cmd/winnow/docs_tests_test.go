package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// namedTests matches "`file_test.go`: `TestOne`, `TestTwo`".
var namedTests = regexp.MustCompile("`([\\w/]+_test\\.go)`: ((?:`Test\\w+`(?:, )?)+)")

// The tests that the documentation names exist.
func TestDocumentedTestsExist(t *testing.T) {
	named := 0
	for _, page := range pages(t) {
		for _, match := range namedTests.FindAllStringSubmatch(readFileString(t, page), -1) {
			file := readFileString(t, filepath.Join("../..", match[1]))
			for name := range strings.SplitSeq(match[2], ", ") {
				named++
				if !strings.Contains(file, "func "+strings.Trim(name, "`")+"(t *testing.T)") {
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
		if tests := cells[len(cells)-1]; len(cells) != 5 || !namedTests.MatchString(tests) {
			t.Errorf("docs/design/safety.md: no test in %s", row)
		}
	}
	if len(rows) < 12 {
		t.Errorf("docs/design/safety.md: only %d rules", len(rows))
	}
}
