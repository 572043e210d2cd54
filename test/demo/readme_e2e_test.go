//go:build e2e

package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeShowsTheOutputOfTheDemo checks that the demo prints each line of the excerpt in the README, in the same
// order. Times differ.
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
	printed := withoutTimes(out.String())
	for line := range strings.Lines(withoutTimes(shown)) {
		_, after, found := strings.Cut("\n"+printed, "\n"+line)
		if !found {
			t.Fatalf("the README shows\n%sbut after the lines before it, the demo prints\n%s", line, printed)
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
