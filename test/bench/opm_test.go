//go:build unix

package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/test/stack"
)

// This program runs itself with a task in these variables. The peak of a process is at least that of the one that
// started it, so the benchmark itself never holds a catalog.
const (
	taskVariable = "WINNOW_BENCH_TASK"
	dirVariable  = "WINNOW_BENCH_DIR"
)

func tasks() map[string]func(dir string) error {
	return map[string]func(string) error{
		"write YAML": func(dir string) error { return OfRealSize.WriteDir(dir, YAML) },
		"write JSON": func(dir string) error { return OfRealSize.WriteDir(dir, JSON) },
		"load": func(dir string) error {
			_, err := filebased.Load(context.Background(), os.DirFS(dir))
			return err
		},
		"prune": prune,
	}
}

func TestMain(m *testing.M) {
	do := tasks()[os.Getenv(taskVariable)]
	if do == nil {
		os.Exit(m.Run())
	}
	if err := do(os.Getenv(dirVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// prunings are measured together: one takes little.
const prunings = 20

// prune loads a catalog, and prints the nanoseconds of the processor that pruning and writing twelve packages takes.
func prune(dir string) error {
	catalog, err := filebased.Load(context.Background(), os.DirFS(dir))
	if err != nil {
		return err
	}
	var keeps []filebased.Keep
	for i := range 12 {
		of := catalog.Packages[i*len(catalog.Packages)/12]
		newest := of.Bundles[:(len(of.Bundles)+1)/2]
		keeps = append(keeps, filebased.Keep{Package: of.Name, Bundle: func(_ string, bundle *filebased.Bundle) bool {
			return bundle.Version.Compare(newest[len(newest)-1].Version) >= 0
		}})
	}
	before, err := processorTime()
	if err != nil {
		return err
	}
	for range prunings {
		pruned, _, err := catalog.Prune(keeps)
		if err != nil {
			return err
		}
		for _, one := range pruned.Packages {
			_ = one.Files()
		}
	}
	after, err := processorTime()
	fmt.Println(int64(after-before) / prunings)
	return err
}

// opmComparison runs opm and this program on a catalog.
type opmComparison struct {
	opm, dir string
}

func newOpmComparison(b *testing.B, encoding string) opmComparison {
	b.Helper()
	opm, err := stack.BuiltOpm(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if opm == "" {
		b.Skip("skipped: opm is not built: go run ./test/stack/cmd/stack -opm")
	}
	c := opmComparison{opm: opm, dir: filepath.Join(b.TempDir(), "catalog")}
	c.own(b, "write "+encoding)
	return c
}

// validate returns what `opm validate` takes.
func (c opmComparison) validate(b *testing.B) cost {
	b.Helper()
	taken, _ := run(b, exec.CommandContext(b.Context(), c.opm, "validate", c.dir))
	return taken
}

// load returns what loading takes.
func (c opmComparison) load(b *testing.B) cost {
	b.Helper()
	taken, _ := c.own(b, "load")
	return taken
}

// prune returns the processor time that pruning takes.
func (c opmComparison) prune(b *testing.B) cost {
	b.Helper()
	_, printed := c.own(b, "prune")
	nanoseconds, err := strconv.ParseInt(string(bytes.TrimSpace(printed)), 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return cost{processor: time.Duration(nanoseconds)}
}

// own returns what a task of this program takes, and what it prints.
func (c opmComparison) own(b *testing.B, task string) (cost, []byte) {
	b.Helper()
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	command := exec.CommandContext(b.Context(), program) //nolint:gosec // itself
	command.Env = append(os.Environ(), taskVariable+"="+task, dirVariable+"="+c.dir)
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

// Loading a catalog, which validates it, takes at most a part of what `opm validate` takes, and pruning and writing
// twelve packages of what is loaded at most a hundredth.
func BenchmarkOpm(b *testing.B) {
	for _, test := range []struct {
		encoding string
		most     float64
	}{{"YAML", 1.0 / 2}, {"JSON", 1.0 / 5}} {
		b.Run(test.encoding, func(b *testing.B) {
			c := newOpmComparison(b, test.encoding)
			var theirs, load, prune cost
			for b.Loop() {
				theirs.add(c.validate(b))
				load.add(c.load(b))
				prune.add(c.prune(b))
			}
			b.ReportMetric(0, "ns/op") // the whole says nothing
			report(b, "load", load.processor.Seconds(), theirs.processor.Seconds(), "s", test.most)
			report(b, "peak", float64(load.peak>>20), float64(theirs.peak>>20), "MiB", 1)
			report(b, "prune", prune.processor.Seconds(), theirs.processor.Seconds(), "s", 1.0/100)
		})
	}
}

// report prints a figure with its target, and fails when it is missed.
func report(b *testing.B, what string, ours, theirs float64, unit string, most float64) {
	b.Helper()
	ratio := ours / theirs
	b.ReportMetric(ratio, what+"/opm")
	text := fmt.Sprintf("%s: %.3g %s, opm %.3g %s: %.3g of it, at most %.3g is wanted", what, ours, unit, theirs, unit, ratio, most)
	if ratio > most {
		b.Error(text)
	} else {
		b.Log(text)
	}
}
