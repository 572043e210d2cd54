// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/test/stack"
)

func load(dir string) (*catalog.Catalog, error) {
	return render.LoadFS(context.Background(), "operators", os.DirFS(dir), render.CatalogLocation{})
}

// renderings are measured together: one takes little.
const renderings = 20

// renderTwelve loads a catalog, and prints the nanoseconds of the processor that it takes to render the newest
// versions of twelve packages into an archive.
func renderTwelve(dir string) error {
	loaded, err := load(dir)
	if err != nil {
		return err
	}
	var names []string
	for i := range 12 {
		names = append(names, loaded.Applications[i*len(loaded.Applications)/12].Name)
	}
	opts, err := render.FromSpec(&v1alpha1.CatalogSelection{
		ObjectMeta: metav1.ObjectMeta{Name: "operators", Namespace: "default"},
		Spec: v1alpha1.CatalogSelectionSpec{
			Sources: []v1alpha1.SourceReference{{Kind: "OCIRepository", Name: "operators"}},
			Limit:   &v1alpha1.Limit{NameSelector: names}, Versions: []v1alpha1.VersionRule{{Latest: 5}},
		},
	})
	if err != nil {
		return err
	}
	before, err := processorTime()
	if err != nil {
		return err
	}
	for range renderings {
		result, err := render.Render(context.Background(), []selection.Source{{Name: "operators", Catalog: loaded}}, opts)
		if err != nil {
			return err
		}
		if len(result.Contents) != len(names) {
			return fmt.Errorf("%d packages are rendered", len(result.Contents))
		}
		if err := archive.Write(io.Discard, result.Tree); err != nil {
			return err
		}
	}
	after, err := processorTime()
	fmt.Println(int64(after-before) / renderings)
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
	runTask(b, "write "+encoding, c.dir)
	return c
}

// validate returns what `opm validate` takes.
func (c opmComparison) validate(b *testing.B) cost {
	b.Helper()
	taken, _ := run(b, exec.CommandContext(b.Context(), c.opm, "validate", c.dir))
	return taken
}

// take returns what a task takes.
func (c opmComparison) take(b *testing.B, task string) cost {
	b.Helper()
	taken, _ := runTask(b, task, c.dir)
	return taken
}

// render returns the processor time of a rendering.
func (c opmComparison) render(b *testing.B) cost {
	b.Helper()
	_, printed := runTask(b, "render operators", c.dir)
	nanoseconds, err := strconv.ParseInt(string(bytes.TrimSpace(printed)), 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return cost{processor: time.Duration(nanoseconds)}
}

// rounds of both, one after the other, of which the least counts: others on the machine only add to it.
const rounds = 3

// Loading a catalog, which validates it, takes at most a part of what `opm validate` takes, linting it little more than loading it, and
// rendering twelve packages of one that is loaded at most a hundredth.
func BenchmarkOpm(b *testing.B) {
	for _, test := range []struct {
		encoding   string
		load, lint float64
	}{{"YAML", 0.5, 0.55}, {"JSON", 0.2, 0.25}} {
		b.Run(test.encoding, func(b *testing.B) {
			c := newOpmComparison(b, test.encoding)
			var theirs, loaded, linted, rendered cost
			for b.Loop() {
				for range rounds {
					theirs.keepLeast(c.validate(b))
					loaded.keepLeast(c.take(b, "load"))
					linted.keepLeast(c.take(b, "lint"))
				}
				rendered.keepLeast(c.render(b))
			}
			b.ReportMetric(0, "ns/op") // the whole says nothing
			report(b, "load", loaded.processor.Seconds(), theirs.processor.Seconds(), "s", test.load)
			report(b, "peak", float64(loaded.peak>>20), float64(theirs.peak>>20), "MiB", 1)
			report(b, "lint", linted.processor.Seconds(), theirs.processor.Seconds(), "s", test.lint)
			report(b, "render", rendered.processor.Seconds(), theirs.processor.Seconds(), "s", 1.0/100)
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
