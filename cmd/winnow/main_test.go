// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

func TestMain(m *testing.M) {
	clitest.Main(m, map[string]func(){"oras": orasMain, "helm": helmMain})
}

func TestScripts(t *testing.T) { clitest.RunScripts(t) }

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
		got := make(chan clitest.Execution, 1)
		go func() { got <- clitest.Execute(ctx, args...) }()
		select {
		case e := <-got:
			if e.Code != root.ExitFailed || e.Stderr != "winnow: interrupted\n" {
				t.Errorf("%v: %+v", args, e)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%v does not end", args)
		}
	}
}
