// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/test/chartupgrades"
	"github.com/winnow-dev/winnow/test/stack"
)

var update = flag.Bool("update", false, "add upgrades that are missing to testdata/upgrades.tsv, and write the figures")

// recordFile has the outcomes of upgrades, which were recorded before there was a rule.
const recordFile = "testdata/upgrades.tsv"

// maxUpgrades bounds the upgrades that make test records.
const maxUpgrades = 3

// The recorder sees what the API server and Helm refuse, and that is, for the upgrades of real charts, what was recorded.
func TestChartUpgradesAsRecorded(t *testing.T) {
	recorder := &chartupgrades.Recorder{
		Helm: chartupgrades.Helm{Program: builtHelm(t), Home: t.TempDir(), KubeVersion: kubeVersion}, Config: emptyCluster(t).RESTConfig(),
	}
	t.Run("a planted chart", func(t *testing.T) { recordsPlanted(t, recorder) })
	t.Run("real charts", func(t *testing.T) { recordsAsBefore(t, recorder) })
}

func recordsAsBefore(t *testing.T, recorder *chartupgrades.Recorder) {
	pairs := realPairs(t)
	if !isSweep() {
		t.Logf("%d of %d upgrades; make chart-upgrades tries all", maxUpgrades, len(pairs))
		pairs = pairs[:maxUpgrades]
	}
	recorded := readRecord(t)
	var got []chartupgrades.Line
	for i, p := range pairs {
		if known := ofPairs(recorded, []chartupgrades.Pair{p}); *update && len(known) > 0 {
			got = append(got, known...)
			continue
		}
		lines, err := recorder.Record(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d of %d: %s: %d lines", i+1, len(pairs), p, len(lines))
		got = append(got, lines...)
		if *update { // what takes an hour is not lost when the next one fails
			writeRecord(t, got)
		}
	}
	if *update {
		writeRecord(t, got)
	}
	compareRecords(t, got, ofPairs(readRecord(t), pairs))
}

func compareRecords(t *testing.T, got, want []chartupgrades.Line) {
	t.Helper()
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("it was recorded, and is no more: %+v", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("it was not recorded: %+v", line)
		}
	}
}

func writeRecord(t *testing.T, lines []chartupgrades.Line) {
	t.Helper()
	var record bytes.Buffer
	if err := chartupgrades.Write(&record, lines); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(recordFile, record.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readRecord(t *testing.T) []chartupgrades.Line {
	t.Helper()
	record, err := os.ReadFile(recordFile)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := chartupgrades.Read(string(record))
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// ofPairs returns the lines of some upgrades.
func ofPairs(lines []chartupgrades.Line, pairs []chartupgrades.Pair) (all []chartupgrades.Line) {
	for _, line := range lines {
		if slices.ContainsFunc(pairs, func(p chartupgrades.Pair) bool { return line.IsOf(p) }) {
			all = append(all, line)
		}
	}
	return all
}

// realPairs returns the upgrades of the real charts, those to the next version first.
func realPairs(t *testing.T) (pairs []chartupgrades.Pair) {
	t.Helper()
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(dataDir(t, root), "charts")
	charts, err := chartupgrades.Charts(t.Context(), dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, chart := range slices.Sorted(maps.Keys(charts)) {
		pairs = append(pairs, chartupgrades.Pairs(chart, charts[chart])...)
	}
	slices.SortStableFunc(pairs, func(a, b chartupgrades.Pair) int {
		return slices.Index(sets(), a.Set) - slices.Index(sets(), b.Set)
	})
	if len(pairs) == 0 {
		t.Skipf("skipped: there are no charts in %s", dir)
	}
	return pairs
}

// sets returns the sets of upgrades, the most common ones first.
func sets() []string {
	return []string{chartupgrades.Next, chartupgrades.Skip, chartupgrades.Back, chartupgrades.Enabled}
}

func builtHelm(t *testing.T) string {
	t.Helper()
	helm, err := stack.BuiltHelm(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if helm == "" {
		t.Skip("skipped: Helm is not built; go run ./test/stack/cmd/stack -helm-cli builds it")
	}
	return helm
}

// emptyCluster returns an API server with nothing of Flux: charts have its definitions, too.
func emptyCluster(t *testing.T) *stack.Stack {
	t.Helper()
	s, err := stack.Start(t.Context(), stack.Options{
		Progress: t.Output(), Args: map[string][]string{stack.APIServer: {"--allow-privileged=true"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := chartupgrades.Empty(t.Context(), s.RESTConfig()); err != nil {
		t.Fatal(err)
	}
	return s
}
