// SPDX-License-Identifier: Apache-2.0

package files

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/winnow-dev/winnow/render"
)

// A rename would replace a link, a pipe or a device rather than write to it.
func TestWriteArchiveReplacesRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	writeFile(t, target, "before")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	result := &render.Result{Tree: outputTree(t, "a")}
	for _, file := range []string{link, dir, target + "/x", filepath.Join(dir, "missing", "x")} {
		if err := WriteArchive(file, result); err == nil {
			t.Errorf("%s was written", file)
		}
	}
	if got := readFileString(t, target); got != "before" {
		t.Errorf("the file was changed to %q", got)
	}
	if err := WriteArchive(target, result); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(target)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() == int64(len("before")) || info.Mode() != 0o644 {
		t.Errorf("size %d, mode %s", info.Size(), info.Mode())
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 {
		t.Errorf("temporary files stay: %v", entries)
	}
}
