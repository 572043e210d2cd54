// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/upgrades"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/test/chartupgrades"
)

// What the rules report of the upgrades of real charts is compared with what was recorded of them. The figures, and each object
// that is missed or reported in vain, are those of testdata.
func TestChartRisksOfRecordedUpgrades(t *testing.T) {
	pairs, record := realPairs(t), readRecord(t)
	r := &reporter{renders: map[string]rendering.Render{}}
	for _, group := range []struct {
		name, figures string
		isApart       bool
	}{
		{"charts that the rules were changed for", "testdata/upgrades-tuning.txt", false},
		{"charts that are kept apart", "testdata/upgrades-apart.txt", true},
	} {
		t.Run(group.name, func(t *testing.T) {
			all := slices.DeleteFunc(slices.Clone(pairs), func(p chartupgrades.Pair) bool { return chartupgrades.IsKeptApart(p.Chart) != group.isApart })
			if isSweep() {
				compareFigures(t, group.figures, r.figures(t, all, record))
			} else {
				compareSome(t, group.figures, r, all, record)
			}
			checkPage(t, group.figures)
		})
	}
}

func compareFigures(t *testing.T, file, got string) {
	t.Helper()
	t.Logf("\n%s", got)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the figures are not those of %s", file)
	}
}

// checkPage checks that the page on the rules has the table of a file.
func checkPage(t *testing.T, file string) {
	t.Helper()
	figures, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/chart-upgrades.md")
	if err != nil {
		t.Fatal(err)
	}
	if table, _, _ := bytes.Cut(figures, []byte("\n\n")); !bytes.Contains(page, table) {
		t.Errorf("docs/chart-upgrades.md lacks the table of %s", file)
	}
}

// compareSome compares what is wrong with the reports of some upgrades with what is listed.
func compareSome(t *testing.T, file string, r *reporter, pairs []chartupgrades.Pair, record []chartupgrades.Line) {
	t.Helper()
	listed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, p := range pairs {
		lines := ofPairs(record, []chartupgrades.Pair{p})
		if tried == maxCharts || !slices.ContainsFunc(lines, func(l chartupgrades.Line) bool { return l.What == chartupgrades.Deleted }) {
			continue
		}
		tried++
		_, wrong := r.score(t, p, lines)
		var want []string
		for line := range strings.Lines(string(listed)) {
			if strings.HasSuffix(line, " "+p.String()+"\n") {
				want = append(want, strings.TrimSuffix(line, "\n"))
			}
		}
		slices.Sort(want)
		if !slices.Equal(wrong, want) {
			t.Errorf("%s: wrong are\n%s\nwant\n%s", p, strings.Join(wrong, "\n"), strings.Join(want, "\n"))
		}
	}
	t.Logf("%d of %d upgrades; make chart-upgrades tries all", tried, len(pairs))
}

// tally has counts of objects, but for the first two.
type tally struct {
	upgrades, measured      int
	alone                   int // refused also by an installation
	refused, refusedFound   int
	reported, reportedRight int // as refused
	deleted, deletedFound   int
	gone, goneRight         int // reported as deleted
	others                  int // reports of the remaining rules
}

func (a *tally) add(b tally) {
	a.upgrades += b.upgrades
	a.measured += b.measured
	a.alone += b.alone
	a.refused += b.refused
	a.refusedFound += b.refusedFound
	a.reported += b.reported
	a.reportedRight += b.reportedRight
	a.deleted += b.deleted
	a.deletedFound += b.deletedFound
	a.gone += b.gone
	a.goneRight += b.goneRight
	a.others += b.others
}

// figures returns a table with a row for each set of upgrades, and what is wrong with the reports.
func (r *reporter) figures(t *testing.T, pairs []chartupgrades.Pair, record []chartupgrades.Line) string {
	t.Helper()
	sums, all := map[string]*tally{}, []string(nil)
	for _, p := range pairs {
		counts, wrong := r.score(t, p, ofPairs(record, []chartupgrades.Pair{p}))
		if sums[p.Set] == nil {
			sums[p.Set] = &tally{}
		}
		sums[p.Set].add(counts)
		all = append(all, wrong...)
	}
	var out bytes.Buffer
	out.WriteString("| upgrades | measured | refused | recall | precision | false alarms an upgrade | refused also alone | deleted | recall | precision | other reports |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, set := range sets() {
		if s := sums[set]; s != nil {
			fmt.Fprintf(&out, "| %s: %d | %d | %d | %s | %s | %.2f | %d | %d | %s | %s | %d |\n", set, s.upgrades, s.measured, s.refused,
				share(s.refusedFound, s.refused), share(s.reportedRight, s.reported), float64(s.reported-s.reportedRight)/float64(max(s.measured, 1)),
				s.alone, s.deleted, share(s.deletedFound, s.deleted), share(s.goneRight, s.gone), s.others)
		}
	}
	out.WriteString("\n")
	for _, line := range all {
		out.WriteString(line + "\n")
	}
	return out.String()
}

func share(part, all int) string {
	if all == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d", part, all)
}

// score compares the report of an upgrade with its record.
func (r *reporter) score(t *testing.T, p chartupgrades.Pair, record []chartupgrades.Line) (counts tally, wrong []string) {
	t.Helper()
	counts.upgrades = 1
	if len(record) == 0 || record[0].What != chartupgrades.Upgraded {
		return counts, nil
	}
	counts.measured = 1
	lines := objectsBy(record)
	risks := r.risks(t, p, record[0].Field)
	refused, reported := lines[chartupgrades.Refused], map[string]bool{}
	maps.Copy(refused, lines[chartupgrades.RefusedByHelm])
	deleted, gone := maps.Clone(lines[chartupgrades.Deleted]), map[string]bool{}
	maps.DeleteFunc(deleted, func(object string, _ bool) bool { return !hasRuleForGone(object) })
	for _, risk := range risks {
		switch {
		case strings.HasPrefix(risk.Text, "The API server refuses"), strings.Contains(risk.Text, "Helm refuses"):
			reported[risk.Object] = true
		case strings.Contains(risk.Text, "Helm deletes"):
			gone[risk.Object] = true
		default:
			counts.others++
		}
	}
	counts.alone = len(lines[chartupgrades.RefusedAlone])
	for _, what := range []string{chartupgrades.RefusedAlone, chartupgrades.Uninstalled, chartupgrades.NotMeasured} {
		for object := range lines[what] {
			delete(reported, object)
		}
	}
	counts.refused, counts.reported = len(refused), len(reported)
	counts.deleted, counts.gone = len(deleted), len(gone)
	counts.refusedFound, counts.reportedRight = common(refused, reported), common(refused, reported)
	counts.deletedFound, counts.goneRight = common(deleted, gone), common(lines[chartupgrades.Deleted], gone)
	wrong = slices.Concat(only("missed, refused:", refused, reported, p), only("in vain, refused:", reported, refused, p),
		only("missed, deleted:", deleted, gone, p), only("in vain, deleted:", gone, lines[chartupgrades.Deleted], p))
	slices.Sort(wrong)
	return counts, wrong
}

// objectsBy maps what lines say to the objects that they say it of, as risks name them: without the group.
func objectsBy(record []chartupgrades.Line) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, what := range []string{
		chartupgrades.Refused, chartupgrades.RefusedAlone, chartupgrades.RefusedByHelm, chartupgrades.Deleted, chartupgrades.Uninstalled, chartupgrades.NotMeasured,
	} {
		all[what] = map[string]bool{}
	}
	for _, line := range record {
		if line.Object == "" || all[line.What] == nil {
			continue
		}
		kind, name, _ := strings.Cut(line.Object, " ")
		kind, _, _ = strings.Cut(kind, ".")
		all[line.What][kind+" "+name] = true
	}
	return all
}

// hasRuleForGone reports whether a rule reports an object of a kind that Helm deletes.
func hasRuleForGone(object string) bool {
	kind, _, _ := strings.Cut(object, " ")
	return slices.Contains([]string{"Namespace", "Secret", "ServiceAccount", "PersistentVolumeClaim", "CustomResourceDefinition"}, kind)
}

func common(a, b map[string]bool) (n int) {
	for object := range a {
		if b[object] {
			n++
		}
	}
	return n
}

// only lists the objects of a that b lacks.
func only(what string, a, b map[string]bool, p chartupgrades.Pair) (all []string) {
	for _, object := range slices.Sorted(maps.Keys(a)) {
		if !b[object] {
			all = append(all, what+" "+object+", "+p.String())
		}
	}
	return all
}

// reporter keeps what it renders: a version is part of many upgrades.
type reporter struct{ renders map[string]rendering.Render }

// risks returns what the rules report, with the keys of the values of the old version that are enabled.
func (r *reporter) risks(t *testing.T, p chartupgrades.Pair, enabled string) []diff.Risk {
	t.Helper()
	var values []byte
	if enabled != "" {
		var err error
		if values, err = p.Old.Values(strings.Split(enabled, ",")); err != nil {
			t.Fatal(err)
		}
	}
	from, to := r.render(t, p.Old, values), r.render(t, p.New, values)
	if refused := from.Refused + to.Refused; refused != "" {
		t.Logf("%s: Winnow does not render it: %s", p, refused)
	}
	risks, _, problems := upgrades.Upgrade{Before: from.Manifests, After: to.Manifests, Namespace: chartupgrades.Namespace}.Compare()
	for _, problem := range problems {
		t.Logf("%s: %s", p, problem)
	}
	return risks
}

func (r *reporter) render(t *testing.T, v chartupgrades.Version, values []byte) rendering.Render {
	t.Helper()
	key := v.Archive + string(values)
	if _, isKnown := r.renders[key]; !isKnown {
		packed, err := os.ReadFile(v.Archive)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := rendering.Do(t.Context(), rendering.Request{
			Chart: packed, ReleaseName: chartupgrades.Release, Namespace: chartupgrades.Namespace, KubeVersion: kubeVersion, Values: [][]byte{values},
		})
		if err != nil {
			t.Fatal(err)
		}
		r.renders[key] = rendering.Render{Refused: answer.Refused}
		if answer.Refused == "" {
			r.renders[key] = answer.Renders[0]
		}
	}
	return r.renders[key]
}
