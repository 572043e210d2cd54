// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestReadmeShowsTheOutputOfTheDemo(t *testing.T) {
	winnow := filepath.Join(t.TempDir(), "winnow")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", winnow, "../../cmd/winnow").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	onFiles, err := exec.CommandContext(t.Context(), "./files.sh", winnow).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, onFiles)
	}
	fits(t, string(onFiles))
	showsOutput(t, "../../README.md", "make demo", string(onFiles)+play(t, platform()))
}

func TestGuideShowsTheOutputOfTheDemo(t *testing.T) {
	showsOutput(t, "../../docs/guides/plain-flux.md", "make demo-plain", play(t, plain()))
}

// fits expects that no line is longer than a terminal is wide.
func fits(t *testing.T, output string) {
	t.Helper()
	for line := range strings.Lines(output) {
		if len([]rune(strings.TrimSuffix(line, "\n"))) > 80 {
			t.Errorf("longer than a terminal is wide: %s", line)
		}
	}
}

// play runs a demo and returns its output, which fits into a terminal.
func play(t *testing.T, of show) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), &out, of); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	fits(t, out.String())
	return out.String()
}

// showsOutput checks that the output has each line of the excerpt in a page, in the same order. Times differ.
func showsOutput(t *testing.T, page, command, output string) {
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
	printed := withoutTimes(output)
	for line := range strings.Lines(withoutTimes(shown)) {
		_, after, found := strings.Cut("\n"+printed, "\n"+line)
		if !found {
			t.Fatalf("%s shows\n%sbut after the lines before it, the demo prints\n%s", page, line, printed)
		}
		printed = after
	}
}

func withoutTimes(output string) string {
	return regexp.MustCompile(`(\d+m)?\d+(\.\d+)?m?s\b`).ReplaceAllString(output, "SOME TIME")
}
