// SPDX-License-Identifier: Apache-2.0

// Package clitest runs winnow for tests of its verbs: in this process, or as scripts do, with a registry and an API server
// that answer from memory. It must not know what a verb does.
package clitest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
)

// Execution is the exit code and the output of a command line.
type Execution struct {
	Code           int
	Stdout, Stderr string
}

// Execute runs a command line in this process, with an empty standard input.
func Execute(ctx context.Context, args ...string) Execution {
	var stdout, stderr bytes.Buffer
	code := root.Run(ctx, args, strings.NewReader(""), &stdout, &stderr)
	return Execution{code, stdout.String(), stderr.String()}
}

// Path returns the absolute path of a file of the repository, whatever the working directory is.
func Path(name string) string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", name)
}

// WriteFile writes a file, or ends the test.
func WriteFile(t testing.TB, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// ReadFile returns the content of a file, or ends the test.
func ReadFile(t testing.TB, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Shell runs a command of bash in a directory, and returns what it prints.
func Shell(t testing.TB, dir, command string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", command)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}
