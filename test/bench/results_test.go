// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// resultsHead is the beginning of the table: the machine, the command, the date.
const resultsHead = `# Results

Written by ` + "`make bench-render`" + `, which takes about four minutes on an idle machine. Do not edit.

%s

Each measure ran in processes of its own, in %d rounds, all measures one after the other in each round. The floor unpacks and
packs the bytes of the layer with the standard library, as any tool has to. "of the floor" compares medians of the time in the
same run. The time of the processor, of all cores together, depends less on what else the machine does.

| applications | measure | min | median | max | of the floor | target | processor | peak memory |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
`

// results returns the page with the results.
func results(machine string, sizes []size) []byte {
	var page bytes.Buffer
	fmt.Fprintf(&page, resultsHead, machine, renderRounds)
	for _, s := range sizes {
		for _, m := range measures() {
			if s.of[m.name] != nil {
				page.WriteString(s.row(m))
			}
		}
	}
	page.WriteString("\n| applications | comparison | result | target |\n| --- | --- | --- | --- |\n")
	for _, s := range sizes {
		s.compare(&page, sizes[0])
	}
	return page.Bytes()
}

func (s size) row(m measure) string {
	of, target := s.of[m.name], ""
	if m.atMost > 0 {
		target = fmt.Sprintf("%.1f x", m.atMost)
	}
	return fmt.Sprintf("| %d | %s | %s | %s | %s | %.2f x | %s | %s | %d MiB |\n", s.applications, m.about,
		seconds(slices.Min(of.wall)), seconds(median(of.wall)), seconds(slices.Max(of.wall)),
		ratio(median(of.wall), median(s.of[floorMeasure].wall)), target, seconds(median(of.processor)), of.peak>>20)
}

// compare writes the rows that compare with other tools, and with the least catalog.
func (s size) compare(page *bytes.Buffer, least size) {
	row := func(what, result, target string) {
		fmt.Fprintf(page, "| %d | %s | %s | %s |\n", s.applications, what, result, target)
	}
	cold := median(s.of[coldMeasure].wall)
	if build := s.of[kustomizeMeasure]; build != nil {
		row("render of a new catalog, of kustomize build", fmt.Sprintf("%.3f x", ratio(cold, median(build.wall))), "0.1 x")
	}
	if copied := s.of[copyMeasure]; copied != nil {
		row("render of a new revision, of a copy as source-watcher makes it",
			fmt.Sprintf("%.2f x", ratio(median(s.of[revisionMeasure].wall), median(copied.wall))), "0.3 x")
	}
	growth := ratio(cold, median(least.of[coldMeasure].wall)) * float64(least.applications) / float64(s.applications)
	row("time of an application in a new catalog, of that in the smallest", fmt.Sprintf("%.2f x", growth), "1.3 x")
	row("peak memory of a new catalog", fmt.Sprintf("%d MiB", s.of[coldMeasure].peak>>20),
		fmt.Sprintf("%d MiB: 3 x its %d MiB, and 64", (3*s.plain+64<<20)>>20, s.plain>>20))
}

// seconds returns a duration with three digits.
func seconds(d time.Duration) string { return fmt.Sprintf("%.3g s", d.Seconds()) }

var modelLine = regexp.MustCompile(`(?m)^model name\s*:\s*(.+)$`)

// machine describes where and when, as far as the system tells.
func machine() string {
	model := runtime.GOARCH
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if found := modelLine.FindSubmatch(info); found != nil {
			model = string(found[1])
		}
	}
	commit, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	return fmt.Sprintf("%s, %d cores, %s, %s, commit %s, %s", model, runtime.GOMAXPROCS(0), runtime.GOOS, runtime.Version(),
		strings.TrimSpace(string(commit)), time.Now().UTC().Format("2006-01-02"))
}

func TestResultsAreATable(t *testing.T) {
	of := map[string]*samples{}
	for i, m := range measures() {
		of[m.name] = &samples{}
		for round := range 3 {
			t := taken{Wall: time.Duration(i+round+1) * time.Second, Processor: time.Duration(i+1) * time.Second}
			of[m.name].add(t, int64(i+1)<<20)
		}
	}
	got := string(results("a machine", []size{{applications: 1000, layer: 1 << 20, plain: 2 << 20, of: of}}))
	for _, want := range []string{
		"\na machine\n",
		"| 1000 | gunzip and gzip of the layer, the floor | 1 s | 2 s | 3 s | 1.00 x |  | 1 s | 1 MiB |\n",
		"| 1000 | render of a new revision, all selected | 3 s | 4 s | 5 s | 2.00 x | 0.5 x | 3 s | 3 MiB |\n",
		"| 1000 | render of a new catalog, of kustomize build | 0.429 x | 0.1 x |\n",
		"| 1000 | peak memory of a new catalog | 2 MiB | 70 MiB: 3 x its 2 MiB, and 64 |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q:\n%s", want, got)
		}
	}
}
