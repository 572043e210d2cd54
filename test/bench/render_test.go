// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// resultsVariable names the file that BenchmarkRender writes a table to.
const resultsVariable = "WINNOW_BENCH_RESULTS"

// renderRounds of all measures, one after the other, so that what else the machine does adds to all of them.
const renderRounds = 5

// samples of a measure.
type samples struct {
	wall, processor []time.Duration
	// peak of the memory of a process, in bytes: the least of all rounds.
	peak int64
}

func (s *samples) add(t taken, peak int64) {
	s.wall, s.processor = append(s.wall, t.Wall), append(s.processor, t.Processor)
	if s.peak == 0 || peak < s.peak {
		s.peak = peak
	}
}

// median of durations.
func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// size is a size of a catalog, with what was measured of it.
type size struct {
	applications int
	// layer is the bytes of the layer, and plain those of its tar stream.
	layer, plain int64
	of           map[string]*samples
}

// BenchmarkRender compares renders with the floor: what it takes to unpack and pack the same bytes, with the standard
// library. Each is measured in processes of its own.
func BenchmarkRender(b *testing.B) {
	var sizes []size
	for _, n := range []int{100, 1_000, 5_000, 10_000} {
		b.Run(fmt.Sprintf("applications=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			runTask(b, fmt.Sprint(writeTask, n), dir)
			one := size{applications: n, of: map[string]*samples{}}
			one.measureLayer(b, dir)
			for b.Loop() {
				for range renderRounds {
					one.round(b, dir)
				}
			}
			b.ReportMetric(0, "ns/op") // the whole says nothing
			one.report(b)
			sizes = append(sizes, one)
		})
	}
	if to := os.Getenv(resultsVariable); to != "" && len(sizes) > 0 {
		slices.SortFunc(sizes, func(x, y size) int { return cmp.Compare(x.applications, y.applications) })
		if err := os.WriteFile(filepath.Clean(to), results(machine(), sizes), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

func (s *size) measureLayer(b *testing.B, dir string) {
	b.Helper()
	info, err := os.Stat(filepath.Join(dir, present))
	if err != nil {
		b.Fatal(err)
	}
	s.layer = info.Size()
	_, printed := runTask(b, plainTask, dir)
	if _, err := fmt.Sscan(string(printed), &s.plain); err != nil {
		b.Fatal(err)
	}
}

// round measures everything once.
func (s *size) round(b *testing.B, dir string) {
	b.Helper()
	for _, m := range measures() {
		if m.only != 0 && m.only != s.applications {
			continue
		}
		process, printed := runTask(b, measureTask+m.name, dir)
		var t taken
		if err := json.Unmarshal(printed, &t); err != nil {
			b.Fatalf("%s: %v", m.name, err)
		}
		if s.of[m.name] == nil {
			s.of[m.name] = &samples{}
		}
		s.of[m.name].add(t, process.peak)
	}
}

// report reports the medians of the processor time, which depend less on what else the machine does, and the ratios of the
// medians of the time.
func (s *size) report(b *testing.B) {
	b.Helper()
	floor := s.of[floorMeasure]
	for _, m := range measures() {
		if of := s.of[m.name]; of != nil {
			b.ReportMetric(float64(median(of.processor).Microseconds())/1000, m.name+"-cpu-ms")
			b.ReportMetric(ratio(median(of.wall), median(floor.wall)), m.name+"/floor")
		}
	}
	b.ReportMetric(float64(s.of[coldMeasure].peak>>20), "cold-peak-MiB")
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
