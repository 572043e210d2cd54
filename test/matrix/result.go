// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

// result is what one row has shown.
type result struct {
	name           string
	versions       []string // of what differs from the pinned servers
	date           string
	passed, failed []string
}

func newResult(name string) result {
	return result{name: name, date: time.Now().UTC().Format(time.DateOnly)}
}

func (r *result) fails(what string) { r.failed = append(r.failed, what) }

// outcome matches the line with which a test ends that is no part of another one.
var outcome = regexp.MustCompile(`(?m)^--- (PASS|FAIL|SKIP): (Test\S+) `)

// read adds what the tests have printed. A skipped test has shown nothing.
func (r *result) read(printed string) {
	found := outcome.FindAllStringSubmatch(printed, -1)
	for _, match := range found {
		if match[1] == "PASS" {
			r.passed = append(r.passed, match[2])
		} else {
			r.fails("`" + match[2] + "`" + map[string]string{"SKIP": " (skipped)"}[match[1]])
		}
	}
	if len(found) == 0 {
		r.fails("no test ended")
	}
}

// line returns the row of the table.
func (r *result) line() string {
	what := "the pinned versions"
	if len(r.versions) > 0 {
		what = strings.Join(r.versions, ", ")
	}
	differs := "nothing"
	if len(r.failed) > 0 {
		differs = "fails: " + strings.Join(r.failed, ", ")
	}
	return fmt.Sprintf("| %s | %s | %d of %d | %s |", what, r.date, len(r.passed), len(r.passed)+len(r.failed), differs)
}

// mark stands above the line of a row, so that a row that was not run keeps its line.
const mark = "<!-- make matrix -->"

// write replaces the line of a row in the table below the mark, or appends it.
func write(page string, r result) error {
	content, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text, err := replace(string(content), r)
	if err != nil {
		return fmt.Errorf("writing %s: %w", page, err)
	}
	return os.WriteFile(page, []byte(text), 0o644)
}

// replace returns a page with the line of a row. Lines of one row begin with the names of the same servers.
func replace(page string, r result) (string, error) {
	before, rest, ok := strings.Cut(page, mark+"\n")
	if !ok {
		return "", fmt.Errorf("%s is missing", mark)
	}
	table, after, _ := strings.Cut(rest, "\n\n")
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	position := len(lines)
	for i, line := range lines[min(2, len(lines)):] { // below the header
		if kindOf(line) == kindOf(r.line()) {
			position = i + 2
		}
	}
	if position == len(lines) {
		lines = append(lines, "")
	}
	lines[position] = r.line()
	return before + mark + "\n" + strings.Join(lines, "\n") + "\n\n" + after, nil
}

// kindOf returns the first cell of a line without patch versions: the same servers in the same minor versions.
func kindOf(line string) string {
	cells := strings.SplitN(line, "|", 3)
	if len(cells) < 3 {
		return line
	}
	return patchVersion.ReplaceAllString(cells[1], "$1")
}

var patchVersion = regexp.MustCompile(`(\d+\.\d+)\.[\w.+-]+`)

// goOf returns the environment that builds a module with the version of Go in its go.mod, if that is newer than the
// product's.
func goOf(module []byte) ([]string, error) {
	var file struct{ Toolchain string }
	if err := json.Unmarshal(module, &file); err != nil {
		return nil, err
	}
	if file.Toolchain == "" {
		return nil, nil
	}
	return []string{"GOTOOLCHAIN=" + file.Toolchain}, nil
}
