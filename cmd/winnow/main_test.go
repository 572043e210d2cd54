// SPDX-License-Identifier: Apache-2.0

package main

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

	"github.com/winnow-dev/winnow/cmd/winnow/root"
)

// execution is the exit code and the output of a command line.
type execution struct {
	code           int
	stdout, stderr string
}

func execute(ctx context.Context, args ...string) execution {
	var stdout, stderr bytes.Buffer
	code := root.Run(ctx, args, strings.NewReader(""), &stdout, &stderr)
	return execution{code, stdout.String(), stderr.String()}
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFileString(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// One interrupt ends a command that waits for a terminal because the redirection was forgotten.
func TestRunInterruptedWhileWaitingForStdin(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, typing := io.Pipe()
	defer typing.Close()
	var stdout, stderr bytes.Buffer
	code := make(chan int)
	go func() {
		code <- root.Run(ctx, []string{"render", "-f", "-", "--source", "x"}, in, &stdout, &stderr)
	}()
	if _, err := typing.Write([]byte("kind: ")); err != nil {
		t.Fatal(err)
	}
	cancel()
	if got := <-code; got != root.ExitFailed {
		t.Errorf("exit code %d, want %d", got, root.ExitFailed)
	}
	if stdout.Len() != 0 || stderr.String() != "winnow: interrupted\n" {
		t.Errorf("stdout %q, stderr %q", stdout.String(), stderr.String())
	}
}

// One interrupt ends a command that waits for the writer of a named pipe.
func TestRunInterruptedWhileWaitingForAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{
		{"render", "-f", pipe, "--source", "x"}, {"import", pipe, "-o", filepath.Join(t.TempDir(), "out")}, {"list", pipe},
		{"pull", "oci://localhost/x", "--ca-file", pipe, "-o", filepath.Join(t.TempDir(), "out")},
	} {
		got := make(chan execution, 1)
		go func() { got <- execute(ctx, args...) }()
		select {
		case e := <-got:
			if e.code != root.ExitFailed || e.stderr != "winnow: interrupted\n" {
				t.Errorf("%v: %+v", args, e)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%v does not end", args)
		}
	}
}
