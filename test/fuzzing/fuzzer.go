// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// fuzzer has the flags of go test for all targets.
type fuzzer struct {
	time    string
	workers int
}

// head is that of the table whose rows all prints.
const head = "| target | CPU | inputs run | new inputs | failures |\n| --- | --- | --- | --- | --- |\n"

// all fuzzes each target. It ends with the first failure.
func (f fuzzer) all(ctx context.Context, out io.Writer, targets []target) error {
	fmt.Fprint(out, head)
	for _, t := range targets {
		r, err := f.fuzz(ctx, t)
		// Go's fuzzer now and then takes its own deadline for a failure (golang/go#75804, mended in Go 1.27): no input is
		// written then, and it is run again.
		if err != nil && !r.failed {
			r, err = f.fuzz(ctx, t)
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

func (f fuzzer) fuzz(ctx context.Context, t target) (result, error) {
	args := []string{"test", "-run", "^$", "-fuzz", "^" + t.name + "$", "-fuzztime", f.time, "-fuzzminimizetime", "10x"}
	if f.workers > 0 {
		args = append(args, "-parallel", strconv.Itoa(f.workers))
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+t.dir)...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&output, os.Stderr), os.Stderr
	err := cmd.Run()
	r := parse(output.Bytes())
	if cmd.ProcessState != nil {
		r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return r, err
}

var progress = regexp.MustCompile(`execs: (\d+) .*new interesting: (\d+)`)

// parse reads the output of go test.
func parse(output []byte) result {
	r := result{failed: bytes.Contains(output, []byte("Failing input written to "))}
	if all := progress.FindAllSubmatch(output, -1); len(all) > 0 {
		last := all[len(all)-1]
		r.inputs, _ = strconv.Atoi(string(last[1])) // digits
		r.interesting, _ = strconv.Atoi(string(last[2]))
	}
	return r
}
