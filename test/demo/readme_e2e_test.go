//go:build e2e

package main

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReadmeShowsTheOutputOfTheDemo keeps the README honest. Times differ, and so does the
// order in which servers that do not wait for each other start.
func TestReadmeShowsTheOutputOfTheDemo(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "$ make demo\n")
	if !found {
		t.Fatal("the README does not show the demo")
	}
	shown, _, _ := strings.Cut(rest, "```")
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if got, want := comparable(out.String()), comparable(shown); got != want {
		t.Errorf("the README shows\n%s\nbut the demo prints\n%s", want, got)
	}
	for line := range strings.Lines(out.String()) {
		if len(line) > 80 {
			t.Errorf("longer than a terminal is wide: %s", line)
		}
	}
}

func comparable(output string) string {
	times := regexp.MustCompile(`(\d+m)?\d+(\.\d+)?m?s\b`)
	var starts, lines []string
	for line := range strings.Lines(times.ReplaceAllString(output, "SOME TIME")) {
		switch {
		case strings.HasSuffix(line, "-controller\n") && strings.HasPrefix(line, "==> starting"):
			starts = append(starts, line)
		default:
			lines = append(lines, line)
		}
	}
	slices.Sort(starts)
	return strings.Join(append(starts, lines...), "")
}
