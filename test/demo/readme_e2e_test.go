//go:build e2e

package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestReadmeShowsTheOutputOfTheDemo(t *testing.T) {
	showsOutput(t, "../../README.md", "make demo", platform())
}

func TestGuideShowsTheOutputOfTheDemo(t *testing.T) {
	showsOutput(t, "../../docs/guides/plain-flux.md", "make demo-plain", plain())
}

// showsOutput checks that a demo prints each line of the excerpt in a page, in the same order. Times differ.
func showsOutput(t *testing.T, page, command string, of show) {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(content), "$ "+command+"\n")
	if !found {
		t.Fatalf("%s does not show the demo", page)
	}
	shown, _, _ := strings.Cut(rest, "```")
	var out bytes.Buffer
	if err := run(t.Context(), &out, of); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	printed := withoutTimes(out.String())
	for line := range strings.Lines(withoutTimes(shown)) {
		_, after, found := strings.Cut("\n"+printed, "\n"+line)
		if !found {
			t.Fatalf("%s shows\n%sbut after the lines before it, the demo prints\n%s", page, line, printed)
		}
		printed = after
	}
	for line := range strings.Lines(out.String()) {
		if len(line) > 80 {
			t.Errorf("longer than a terminal is wide: %s", line)
		}
	}
}

func withoutTimes(output string) string {
	return regexp.MustCompile(`(\d+m)?\d+(\.\d+)?m?s\b`).ReplaceAllString(output, "SOME TIME")
}
