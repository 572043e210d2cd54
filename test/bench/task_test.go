// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/lint"
)

// This program runs itself with a task in these variables. The peak of a process is at least that of the one that
// started it, so the benchmark itself never holds a catalog.
const (
	taskVariable = "WINNOW_BENCH_TASK"
	dirVariable  = "WINNOW_BENCH_DIR"
)

func tasks() map[string]func(dir string) error {
	all := map[string]func(string) error{
		"write YAML": func(dir string) error { return OfRealSize.WriteDir(dir, YAML) },
		"write JSON": func(dir string) error { return OfRealSize.WriteDir(dir, JSON) },
		"load": func(dir string) error {
			_, err := load(dir)
			return err
		},
		"render operators": renderTwelve,
		"lint": func(dir string) error {
			_, err := lint.Run(context.Background(), os.DirFS(dir), lint.Options{})
			return err
		},
		plainTask: printPlain,
	}
	for _, m := range measures() {
		all[measureTask+m.name] = m.task
	}
	return all
}

const (
	// writeTask is the start of a task that writes a catalog with so many applications, and measureTask that of one that
	// measures.
	writeTask, measureTask = "write applications ", "measure "
	plainTask              = "print the bytes of the tar stream"
)

func TestMain(m *testing.M) {
	task, dir := os.Getenv(taskVariable), os.Getenv(dirVariable)
	do := tasks()[task]
	if count, err := strconv.Atoi(strings.TrimPrefix(task, writeTask)); err == nil {
		do = func(dir string) error { return writeLayers(dir, count) }
	}
	if do == nil {
		os.Exit(m.Run())
	}
	if err := do(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// runTask returns what a task of this program takes, and what it prints.
func runTask(b *testing.B, task, dir string) (cost, []byte) {
	b.Helper()
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	command := exec.CommandContext(b.Context(), program)
	command.Env = append(os.Environ(), taskVariable+"="+task, dirVariable+"="+dir)
	return run(b, command)
}

func run(b *testing.B, command *exec.Cmd) (cost, []byte) {
	b.Helper()
	var output, problems bytes.Buffer
	command.Stdout, command.Stderr = &output, &problems
	if err := command.Run(); err != nil {
		b.Fatalf("%s: %v: %s", command.Path, err, problems.Bytes())
	}
	return costOf(command.ProcessState), output.Bytes()
}
