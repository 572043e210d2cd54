// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package install_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/test/stack"
)

// failing runs a program that may fail, and returns all that it prints.
func failing(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
	return string(out), err
}

// command runs a program in dir, and returns what it prints on standard output. Of a variable given twice, the last
// one counts.
func command(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	// make and go leave nothing behind in temporary directories.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, io.MultiWriter(&stderr, t.Output())
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return stdout.String()
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := stack.Root(context.WithoutCancel(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// files returns the paths of the working tree that a commit of all of it would have.
func files(t *testing.T) []string {
	t.Helper()
	var present []string
	for _, path := range strings.Split(command(t, root(t), nil, "git", "ls-files", "-z", "-co", "--exclude-standard"), "\x00") {
		if info, err := os.Lstat(filepath.Join(root(t), path)); err == nil && info.Mode().IsRegular() {
			present = append(present, path)
		}
	}
	return present
}

// makeIn runs make, without what `make e2e` or the environment hands down.
func makeIn(t *testing.T, dir string, env []string, args ...string) {
	t.Helper()
	command(t, dir, append([]string{"MAKEFLAGS=", "MFLAGS=", "MAKELEVEL=", "MAKEOVERRIDES=", "IMAGE_REPO=", "IMAGE_BASE="}, env...),
		append([]string{"make", "--no-print-directory"}, args...)...)
}
