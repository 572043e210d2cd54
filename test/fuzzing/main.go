// SPDX-License-Identifier: Apache-2.0

// Command fuzzing runs the fuzz targets of the repository one after another, and prints for each what it cost and found,
// as a row of a table. With -keep it runs none: it copies the inputs that the fuzzer has found into testdata/fuzz, where
// go test runs them, as far as they cover what no other input covers.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fuzzing:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("fuzzing", flag.ContinueOnError)
	var f fuzzer
	flags.StringVar(&f.time, "time", "20s", "run each target for this `duration`, or this number of inputs, such as 1000x")
	flags.IntVar(&f.workers, "workers", 0, "run this `number` of workers; 0 for one a core")
	flags.IntVar(&f.nice, "nice", 0, "add this `number` to the niceness of the fuzzers")
	only := flags.String("run", "", "run the targets whose directory and name, with a space between, match this `pattern`")
	skip := flags.String("skip", "^$", "leave out the targets whose name matches this `pattern`")
	keep := flags.Bool("keep", false, "copy what was found into testdata/fuzz instead")
	if err := flags.Parse(args); err != nil {
		return err
	}
	targets, err := find(".", *only, *skip)
	if err != nil {
		return err
	}
	cache, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return err
	}
	f.cache = filepath.Join(strings.TrimSpace(string(cache)), "fuzz")
	if *keep {
		return keepAll(ctx, out, targets, f.cache)
	}
	return f.all(ctx, out, targets)
}

// target is a fuzz test.
type target struct{ dir, name string }

func (t target) String() string { return t.dir + " " + t.name }

// corpus is where go test reads the inputs of the target that are kept.
func (t target) corpus() string { return filepath.Join(t.dir, "testdata", "fuzz", t.name) }

// build builds the tests of the package of the target.
func (t target) build(ctx context.Context, program string, flags ...string) error {
	args := append([]string{"test", "-c", "-o", program}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+t.dir)...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

const module = "github.com/winnow-dev/winnow"

var declaration = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// find returns the targets in and below a directory.
func find(root, only, skip string) (found []target, err error) {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return nil, err
	}
	skipped, err := regexp.Compile(skip)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, match := range declaration.FindAllSubmatch(text, -1) {
			if t := (target{filepath.Dir(path), string(match[1])}); chosen.MatchString(t.String()) && !skipped.MatchString(t.name) {
				found = append(found, t)
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b target) int { return strings.Compare(a.String(), b.String()) })
	return found, err
}
