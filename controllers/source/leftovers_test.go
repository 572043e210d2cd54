// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// A process that is killed again and again while it downloads would fill the disk of its node.
func TestTheDownloadsOfAProcessThatWasKilledAreRemoved(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	running, other := fmt.Sprintf("%s%d-1", fetchPrefix, os.Getppid()), "winnow-fetch-other"
	mine, err := newFetchDir() // of a process with the same PID, in the container before
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{fmt.Sprintf("%s%d-1", fetchPrefix, ended.Process.Pid), filepath.Base(mine), running, other} {
		if err := os.MkdirAll(filepath.Join(temporary, dir, "content"), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	if err := RemoveLeftovers(); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(temporary)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	want := []string{running, other}
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left are %v, want %v", left, want)
	}
}
