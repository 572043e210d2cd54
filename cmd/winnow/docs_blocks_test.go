// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/test/clitest"
)

var (
	consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```")
	// fromExample matches the first line of a block that is part of a file in an example.
	fromExample = regexp.MustCompile(`^# ([\w/-]+\.yaml)\n`)
)

// runBlocks runs the commands of a text in a directory, and returns what they print. Functions of the shell stand in
// for programs that a test does not run.
func runBlocks(t *testing.T, text, dir, standIns string) string {
	t.Helper()
	var printed strings.Builder
	for _, block := range shBlock.FindAllStringSubmatch(text, -1) {
		shell := exec.CommandContext(t.Context(), "sh", "-eu", "-c", standIns+"\n"+block[1])
		shell.Dir = dir
		out, err := shell.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", block[1], err, out)
		}
		printed.Write(out)
	}
	return printed.String()
}

func assertPrinted(t *testing.T, printed string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(printed, want) {
			t.Errorf("no %q in\n%s", want, printed)
		}
	}
}

// copyExample returns a new directory with the files of a directory.
func copyExample(t *testing.T, example string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(example)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// showsExample reports whether a block names a file of an example, and checks that the block is part of it.
func showsExample(t *testing.T, example, block string) bool {
	t.Helper()
	file := fromExample.FindStringSubmatch(block)
	if file == nil {
		return false
	}
	if !strings.Contains(clitest.ReadFile(t, filepath.Join(example, file[1])), strings.TrimPrefix(block, file[0])) {
		t.Errorf("%s/%s does not have\n%s", example, file[1], block)
	}
	return true
}
