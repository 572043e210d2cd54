// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/winnow-dev/winnow/test/stack"
)

// smallDisk is a directory of one MiB. It is mounted in a namespace of a process of its own, which ends with this one:
// so it needs no root where users may have namespaces, and nothing stays mounted.
type smallDisk struct {
	archives string // the storage of the controller
	filler   string // a file beside it
}

// refusedWrite matches a line in the log of the controller about an archive that a full disk refuses.
var refusedWrite = regexp.MustCompile(`(?m)^.*"level":"error".*no space left on device.*$`)

// newSmallDisk has the controller of the options store its archives on a small disk. It returns nil, and says so, where
// that is not allowed.
func newSmallDisk(t *testing.T, options *stack.ControllerOptions) *smallDisk {
	t.Helper()
	dir := filepath.Join(system.Dir(), "small-disk")
	if err := os.Mkdir(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	holder := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
		`mount -t tmpfs -o size=1m tmpfs "$0" && echo mounted && exec cat`, dir)
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
	mounted := fmt.Sprintf("/proc/%d/root%s", holder.Process.Pid, dir)
	d := &smallDisk{archives: filepath.Join(mounted, "archives"), filler: filepath.Join(mounted, "filler")}
	if err := os.Mkdir(d.archives, 0o750); err != nil {
		t.Fatal(err)
	}
	options.DataDir, options.Binary = filepath.Join(dir, "archives"), script
	return d
}

// fill writes until no space is left.
func (d *smallDisk) fill() error {
	file, err := os.Create(d.filler)
	if err != nil {
		return err
	}
	for block := make([]byte, 4096); err == nil; {
		_, err = file.Write(block)
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = nil
	}
	return errors.Join(err, file.Close())
}

// fillDisk removes the archives of a selection and fills the disk, so that they cannot be stored again, until a write fails.
func (c *chaos) fillDisk(ctx context.Context, draw *rand.Rand) func() {
	cs, request, before := c.selectionOf(c.some(draw)), draw.IntN(1e9), c.refusedWrites()
	archives, _ := filepath.Glob(filepath.Join(c.disk.archives, "*", cs.Namespace, cs.Name, "*.tar.gz"))
	for _, archive := range archives {
		_ = os.Remove(archive) // it may be gone
	}
	if err := c.disk.fill(); err != nil {
		c.t.Error(err)
	}
	c.insist(ctx, func(ctx context.Context) error {
		return c.patch(ctx, cs, fmt.Sprintf(`{"metadata": {"annotations": {%q: "%d"}}}`, meta.ReconcileRequestAnnotation, request))
	})
	return func() {
		for range 40 {
			if c.refusedWrites() > before || ctx.Err() != nil {
				break
			}
			pause(ctx, 250*time.Millisecond)
		}
		if err := os.Remove(c.disk.filler); err != nil {
			c.t.Error(err)
		}
	}
}

// refusedWrites returns how many writes of archives have failed because the disk is full, by the log of the controller.
func (c *chaos) refusedWrites() int {
	log, err := system.controller.Logs()
	if err != nil {
		c.t.Error(err)
	}
	return len(refusedWrite.FindAll(log, -1))
}

// fullDiskMet is what the report says about the full disk.
func (c *chaos) fullDiskMet() string {
	if c.disk == nil {
		return "none: the disk is not small, this process may not mount one"
	}
	if n := c.refusedWrites(); n > 0 {
		return strconv.Itoa(n)
	}
	return "0: the full disk met no write"
}
