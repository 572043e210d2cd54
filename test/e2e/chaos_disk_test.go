// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/winnow-dev/winnow/test/stack"
)

// smallDisk is a directory of one MiB. It is mounted in a namespace of a process of its own, which ends with this one:
// so it needs no root where users may have namespaces, and nothing stays mounted.
type smallDisk struct{ dir string }

// newSmallDisk has the controller of the options store its archives on a small disk. It returns nil, and says so, where
// that is not allowed.
func newSmallDisk(t *testing.T, options *stack.ControllerOptions) *smallDisk {
	t.Helper()
	data := filepath.Join(system.Dir(), "small-disk")
	if err := os.Mkdir(data, 0o750); err != nil {
		t.Fatal(err)
	}
	holder := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
		`mount -t tmpfs -o size=1m tmpfs "$0" && echo mounted && exec cat`, data)
	stdin, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	line := ""
	if err = holder.Start(); err == nil {
		t.Cleanup(func() { _ = stdin.Close(); _ = holder.Wait() })
		line, err = bufio.NewReader(stdout).ReadString('\n')
	}
	if err != nil || line != "mounted\n" {
		fmt.Fprintln(os.Stderr, "chaos: no full disk: this process may not mount a small one:", err)
		return nil
	}
	script := filepath.Join(system.Dir(), "on-small-disk")
	content := fmt.Sprintf("#!/bin/sh\nexec nsenter --preserve-credentials --user --mount --target %d -- %s \"$@\"\n", holder.Process.Pid, system.binary)
	if err := os.WriteFile(script, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
	options.DataDir, options.Binary = data, script
	return &smallDisk{dir: fmt.Sprintf("/proc/%d/root%s", holder.Process.Pid, data)}
}
