// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// fuzzer has what is the same for all targets.
type fuzzer struct {
	// time is the value of -fuzztime, and workers that of -parallel.
	time    string
	workers int
	// nice is added to the niceness of the fuzzers.
	nice int
	// cache is the directory in which the fuzzer of Go keeps inputs.
	cache string
}

// head is that of the table whose rows all prints.
const head = "| target | CPU | inputs run | new inputs | failures |\n| --- | --- | --- | --- | --- |\n"

// all fuzzes each target. It ends with the first failure.
func (f fuzzer) all(ctx context.Context, out io.Writer, targets []target) error {
	temporary, err := os.MkdirTemp("", "fuzzing-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	fmt.Fprint(out, head)
	for _, t := range targets {
		program := filepath.Join(temporary, "tests")
		if err := t.build(ctx, program, "-fuzz", "^"+t.name+"$"); err != nil {
			return err
		}
		r, err := f.fuzz(ctx, t, program)
		// Go's fuzzer now and then takes its own deadline for a failure (golang/go#75804, mended in Go 1.27): no input is
		// written then, and it is run again.
		if err != nil && !r.failed {
			r, err = f.fuzz(ctx, t, program)
		}
		fmt.Fprintf(out, "| `%s` | %s | %d | %d | %d |\n", t, r.cpu.Round(time.Second), r.inputs, r.interesting, count(r.failed))
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	return nil
}

func count(failed bool) int {
	if failed {
		return 1
	}
	return 0
}

// result is what a run has cost and found.
type result struct {
	cpu                 time.Duration
	inputs, interesting int
	failed              bool // with an input that is kept
}

func (f fuzzer) fuzz(ctx context.Context, t target, program string) (result, error) {
	args := []string{
		"-n", strconv.Itoa(f.nice), program, "-test.run", "^$", "-test.fuzz", "^" + t.name + "$", "-test.fuzztime", f.time, "-test.fuzzminimizetime", "10x",
		"-test.fuzzcachedir", filepath.Join(f.cache, module, t.dir),
	}
	if f.workers > 0 {
		args = append(args, "-test.parallel", strconv.Itoa(f.workers))
	}
	fmt.Fprintf(os.Stderr, "fuzz %s %s\n", t, f.time)
	cmd := exec.CommandContext(ctx, "nice", args...)
	var output bytes.Buffer
	shown := io.MultiWriter(&output, os.Stderr)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.dir, shown, shown
	err := cmd.Run()
	r := parse(output.Bytes())
	if cmd.ProcessState != nil {
		r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return r, err
}

var progress = regexp.MustCompile(`execs: (\d+) .*new interesting: (\d+)`)

// parse reads the output of a fuzzer.
func parse(output []byte) result {
	r := result{failed: bytes.Contains(output, []byte("Failing input written to "))}
	if all := progress.FindAllSubmatch(output, -1); len(all) > 0 {
		last := all[len(all)-1]
		r.inputs, _ = strconv.Atoi(string(last[1])) // digits
		r.interesting, _ = strconv.Atoi(string(last[2]))
	}
	return r
}
