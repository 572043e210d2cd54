// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/lockedfile"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
)

// Main runs the tests of a package whose scripts and shells can start winnow, and further programs. It does not return.
func Main(m *testing.M, programs map[string]func()) {
	all := map[string]func(){"winnow": func() {
		os.Exit(root.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}}
	maps.Copy(all, programs)
	testscript.Main(program{m}, all)
}

// program builds the command winnow of the scripts without the race detector: a start of the test binary takes four
// times the CPU, and scripts start winnow a thousand times. Tests that call Execute run under the race detector. With
// coverage, winnow stays the test binary, which counts the statements that scripts run.
type program struct{ *testing.M }

func (p program) Run() int {
	if testing.CoverMode() == "" {
		if err := usePlain(); err != nil {
			fmt.Fprintln(os.Stderr, "building winnow for the scripts:", err)
			return 1
		}
	}
	return p.M.Run()
}

// usePlain replaces the test binary by winnow. All packages share one file: go build leaves it as it is while it is up to
// date.
func usePlain() error {
	path, err := exec.LookPath("winnow")
	if err != nil {
		return err
	}
	shared := Path("bin/clitest/winnow")
	if err := os.MkdirAll(filepath.Dir(shared), 0o755); err != nil {
		return err
	}
	unlock, err := lockedfile.MutexAt(shared + ".lock").Lock()
	if err != nil {
		return err
	}
	defer unlock()
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", shared, "./cmd/winnow")
	build.Dir = Path(".")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return errors.Join(os.Remove(path), os.Symlink(shared, path))
}
