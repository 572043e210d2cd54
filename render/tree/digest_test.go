// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The order matters: sorted by bytes, "-" and "." come before "/".
func files() []string {
	return []string{"a/x", "a-b/x", "a.yaml", "-n", "A", "ä/ö", "a b", "z", "a/y z"}
}

func TestDigestIsThatOfTheLines(t *testing.T) {
	paths := files()
	tree := newTree(t, paths...)
	slices.Sort(paths)
	var lines bytes.Buffer
	for _, path := range paths {
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256([]byte(path)), path)
	}
	want := fmt.Sprintf("sha256:%x", sha256.Sum256(lines.Bytes()))
	if got := tree.Digest(); got != want {
		t.Errorf("digest is %s, want %s", got, want)
	}
}

func TestDigestDependsOnPathsAndContents(t *testing.T) {
	base := newTree(t, files()...).Digest()
	shuffled := files()
	slices.Reverse(shuffled)
	if got := newTree(t, shuffled...).Digest(); got != base {
		t.Errorf("another order changes the digest from %s to %s", base, got)
	}
	if got := newTree(t, append(files(), "more")...).Digest(); got == base {
		t.Error("another file does not change the digest")
	}
	changed := newTree(t, files()[1:]...)
	if err := changed.Add(files()[0], []byte("changed")); err != nil {
		t.Fatal(err)
	}
	if got := changed.Digest(); got == base {
		t.Error("another content does not change the digest")
	}
}

// TestDigestIsThatOfTheCommand runs the command that Digest's comment promises.
func TestDigestIsThatOfTheCommand(t *testing.T) {
	const command = `find . -type f | sed 's,^\./,,' | LC_ALL=C sort | xargs -r -d '\n' sha256sum -- | sha256sum`
	for _, tool := range []string{"sh", "find", "sed", "sort", "xargs", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	for _, paths := range [][]string{nil, files()} {
		dir := t.TempDir()
		for _, path := range paths {
			file := filepath.Join(dir, path)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(path), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		shell := exec.Command("sh", "-c", command)
		shell.Dir = dir
		out, err := shell.Output()
		if err != nil {
			t.Fatal(err)
		}
		want := "sha256:" + strings.Fields(string(out))[0]
		if got := newTree(t, paths...).Digest(); got != want {
			t.Errorf("digest of %q is %s, the command prints %s", paths, got, want)
		}
	}
}
