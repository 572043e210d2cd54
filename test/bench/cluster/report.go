// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"time"
)

// report returns the table of the phases, in Markdown.
func (s *system) report(phases ...phase) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d selections of %d of %d applications, %d Kustomizations, %d controllers, idle for %s.\n\n",
		s.selections, s.selected, s.applications, s.consumers, s.shards, s.plan.idle)
	row := func(what string, cell func(phase) string) {
		fmt.Fprintf(&b, "| %s |", what)
		for _, p := range phases {
			fmt.Fprintf(&b, " %s |", cell(p))
		}
		b.WriteString("\n")
	}
	row("", func(p phase) string { return p.name })
	row("---", func(phase) string { return "---" })
	row("source ready -> published: p50, p99, last", func(p phase) string { return spread(p.publish) })
	row("published -> applied: p50, p99, last", func(p phase) string { return spread(p.apply) })
	counted := func(of func(usage) float64) func(phase) string {
		return func(p phase) string { return fmt.Sprintf("%.0f", of(p.after)-of(p.before)) }
	}
	row("requests to the API server", counted(func(u usage) float64 { return u.requests }))
	row("of these, that write", counted(func(u usage) float64 { return u.writes }))
	row("patches of the status of selections", counted(func(u usage) float64 { return u.statusWrites }))
	row("writes of ExternalArtifacts", counted(func(u usage) float64 { return u.artifactWrites }))
	row("reconciliations", counted(func(u usage) float64 { return u.reconciles }))
	row("downloads of catalogs", counted(func(u usage) float64 { return u.downloads }))
	row("downloaded, MB", func(p phase) string { return fmt.Sprintf("%.1f", (p.after.downloaded-p.before.downloaded)/1e6) })
	row("processor time, s", func(p phase) string { return fmt.Sprintf("%.2f", (p.after.cpu - p.before.cpu).Seconds()) })
	row("processor time of the API server, s", func(p phase) string { return fmt.Sprintf("%.2f", (p.after.server - p.before.server).Seconds()) })
	row("processor, cores", func(p phase) string {
		return fmt.Sprintf("%.4f", (p.after.cpu-p.before.cpu).Seconds()/p.after.at.Sub(p.before.at).Seconds())
	})
	row("resident memory at the end, MiB", func(p phase) string { return mebibytes(p.memory.resident) })
	row("most resident memory, MiB", func(p phase) string { return mebibytes(p.memory.peak) })
	return b.String()
}

func mebibytes(n int64) string { return fmt.Sprintf("%d", n>>20) }

// spread returns the percentiles of sorted times.
func spread(sorted []time.Duration) string {
	if len(sorted) == 0 {
		return ""
	}
	short := func(p int) string { return fmt.Sprintf("%.2f s", percentile(sorted, p).Seconds()) }
	return short(50) + ", " + short(99) + ", " + short(100)
}
