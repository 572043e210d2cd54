// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// goRun runs the go command in dir. Its error contains the end of the output.
func goRun(ctx context.Context, dir string, env []string, args ...string) error {
	var output bytes.Buffer
	cmd := goCommand(ctx, dir, env, args)
	cmd.Stdout, cmd.Stderr = &output, &output
	return runGo(ctx, cmd, &output)
}

// goOutput runs the go command in dir and returns its output, without surrounding space.
func goOutput(ctx context.Context, dir string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := goCommand(ctx, dir, nil, args)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := runGo(ctx, cmd, &stderr); err != nil {
		return "", err
	}
	return strings.TrimSpace(stdout.String()), nil
}

// goCommand returns a go command with the environment of the caller (GOFLAGS and the like). It disables
// workspaces, which would hide the pinned modules.
func goCommand(ctx context.Context, dir string, env, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOWORK=off"), env...)
	cmd.SysProcAttr = childAttributes()
	// The signal must also end the compilers that go has started.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

func runGo(ctx context.Context, cmd *exec.Cmd, output *bytes.Buffer) error {
	// See childAttributes: the thread that starts the child must live as long as the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("running %s in %s: %w\n%s", strings.Join(cmd.Args, " "), cmd.Dir, err, lastLines(output.Bytes(), 20))
	}
	return nil
}

// lastLines returns the last n lines of text, without the final line break.
func lastLines(text []byte, n int) string {
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}
