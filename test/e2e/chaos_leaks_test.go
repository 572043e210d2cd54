// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
)

// usage is what the controller uses while nothing happens.
type usage struct {
	goroutines, openFiles int
	heap                  int // MiB after a garbage collection
}

func (u usage) String() string {
	return fmt.Sprintf("%d goroutines, %d open files, %d MiB", u.goroutines, u.openFiles, u.heap)
}

var (
	goroutineCount = regexp.MustCompile(`^goroutine profile: total (\d+)`)
	heapSize       = regexp.MustCompile(`(?m)^# HeapAlloc = (\d+)`)
)

func (c *chaos) usage(ctx context.Context) usage {
	c.t.Helper()
	profiles := "http://" + system.controller.MetricsAddr + "/debug/pprof/"
	u := usage{
		heap:       c.profiled(ctx, profiles+"heap?debug=1&gc=1", heapSize) >> 20,
		goroutines: c.profiled(ctx, profiles+"goroutine?debug=1", goroutineCount),
	}
	if files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", system.Process(system.controller.Name()).PID())); err == nil { // Linux
		u.openFiles = len(files)
	}
	return u
}

func (c *chaos) profiled(ctx context.Context, url string, pattern *regexp.Regexp) int {
	c.t.Helper()
	profile, err := get(ctx, url)
	if err != nil {
		c.t.Fatal(err)
	}
	match := pattern.FindStringSubmatch(profile)
	if match == nil {
		c.t.Fatalf("%s does not match %s", url, pattern)
	}
	number, err := strconv.Atoi(match[1])
	if err != nil {
		c.t.Fatal(err)
	}
	return number
}

// assertNothingLeaks compares what the controller uses with what it used before the faults, and waits until its storage
// has no more than the archives that it keeps. Connections that nothing uses are closed after a while.
func (c *chaos) assertNothingLeaks(before usage) (after usage) {
	c.t.Helper()
	bound := usage{before.goroutines + 30, before.openFiles + 20, before.heap + 32}
	c.await("as much in use as before", func(ctx context.Context) error {
		if after = c.usage(ctx); after.goroutines > bound.goroutines || after.openFiles > bound.openFiles || after.heap > bound.heap {
			return fmt.Errorf("%v, before the faults %v", after, before)
		}
		return nil
	})
	c.awaitCollected()
	return after
}

// awaitCollected waits until each selection has one or two archives, and no temporary file, after reconciliations that
// come after the retention.
func (c *chaos) awaitCollected() {
	c.t.Helper()
	pause(c.t.Context(), storageRetention)
	for _, name := range c.selections {
		collect := fmt.Sprintf(`{"metadata": {"annotations": {%q: "collect"}}}`, meta.ReconcileRequestAnnotation)
		if err := c.patch(c.t.Context(), c.selectionOf(name), collect); err != nil {
			c.t.Error(err)
		}
	}
	c.await("the storage is clean", func(context.Context) error {
		var left []string
		archives := map[string]int{}
		err := fs.WalkDir(os.DirFS(c.storage()), ".", func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil || entry.IsDir() || strings.HasSuffix(path, ".lock"):
			case strings.HasSuffix(path, ".tar.gz"):
				archives[filepath.Dir(path)]++
			default:
				left = append(left, path)
			}
			return err
		})
		if len(archives) != len(c.selections) {
			left = append(left, fmt.Sprintf("archives of %d selections", len(archives)))
		}
		for dir, n := range archives {
			if n > 2 {
				left = append(left, fmt.Sprintf("%d archives in %s", n, dir))
			}
		}
		downloads, globErr := filepath.Glob(filepath.Join(system.Dir(), "tmp", "winnow-*"))
		left, err = append(left, downloads...), errors.Join(err, globErr)
		if len(left) > 0 {
			slices.Sort(left)
			err = errors.Join(err, fmt.Errorf("left are %s", strings.Join(left, ", ")))
		}
		return err
	})
}

// print prints what was done.
func (c *chaos) print(lasted, took time.Duration, before, after usage) {
	var rows []string
	row := func(what string, value any) { rows = append(rows, fmt.Sprintf("| %s | %v |", what, value)) }
	row("faults injected for", lasted.Round(time.Second))
	kinds := []string{}
	for kind := range c.tally {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		row(kind, c.tally[kind])
	}
	for _, g := range []*gate{c.registry, c.source, c.archives} {
		row("downloads from "+g.name+" that a fault met", g.spoiled.Load())
	}
	row("writes of archives that the full disk refused", c.fullDiskMet())
	row("artifacts verified, each with its tree", len(c.reader.built))
	row("downloads verified", c.reader.downloads)
	row("announced, and replaced before their download", c.reader.passed)
	row("looks at the live objects", c.reader.samples)
	row("objects that Flux has applied, and not noted in an inventory before the API server died", len(c.lost))
	row("objects that Winnow has kept, because a selection was not evaluated in time", len(c.kept))
	row("edits that were held until they were approved, because nothing was announced or stored", len(c.approved))
	row("converged after the last fault in", took.Round(100*time.Millisecond))
	row("the controller before", before)
	row("the controller after", after)
	fmt.Fprintf(os.Stderr, "chaos: WINNOW_CHAOS_SEED=%d, %s\n| what | how much |\n| --- | --- |\n%s\n",
		c.seed, time.Now().UTC().Format(time.DateOnly), strings.Join(rows, "\n"))
}
