// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
)

// nullCharts are the charts that make test makes at random; the sweep makes more.
const (
	nullCharts      = 10
	sweepNullCharts = 400
)

// Charts with nulls, globals, conditions, aliases and several documents in values.yaml render as Helm 3 and Helm 4 render them.
func TestChartsWithNullsRenderAsHelmDoes(t *testing.T) {
	helms, number := builtHelms(t), nullCharts
	if isSweep() {
		number = sweepNullCharts
	}
	same, refused, differ := 0, 0, 0
	for seed := range number {
		m := maker{rand.New(rand.NewPCG(uint64(seed), 7))}
		place := filepath.Join(t.TempDir(), "web")
		m.chart(t, place, "web", 2)
		values := filepath.Join(filepath.Dir(place), "values.yaml")
		write(t, values, m.mapping(2, chartsIn(2)...))
		texts := map[bool]string{}
		for _, isHelm3 := range []bool{true, false} {
			use := used{place: place, values: values, isHelm3: isHelm3}
			got := renderChart(t, use)
			want, problem := helmTemplate(t, helms[isHelm3], use)
			for try := 0; try < 8 && problem == nil && !sameTexts(got.Manifests, want); try++ { // Helm orders charts at random, which may share globals
				want, problem = helmTemplate(t, helms[isHelm3], use)
			}
			switch {
			case problem != nil && got.Refused != "":
				refused++
				texts[isHelm3] = got.Refused
				continue
			case problem != nil || got.Refused != "" || len(want) != len(got.Manifests):
				t.Fatalf("chart %d, Helm 3 %t: Helm: %v\n%s\nWinnow: %s %v", seed, isHelm3, problem, want, got.Refused, got.Manifests)
			}
			if !sameTexts(got.Manifests, want) {
				t.Errorf("chart %d, Helm 3 %t: got\n%v\nwant\n%s", seed, isHelm3, got.Manifests, want)
				continue
			}
			same++
			texts[isHelm3] = strings.Join(want, "\n")
		}
		if texts[true] != texts[false] {
			differ++
		}
	}
	t.Logf("%d charts by two Helms: %d renders are the same, both refuse %d; Helm 3 and 4 differ on %d charts", number, same, refused, differ)
}

func sameTexts(got []rendering.Manifest, want []string) bool {
	return slices.EqualFunc(got, want, func(m rendering.Manifest, text string) bool {
		return strings.TrimSpace(m.Path+"\n"+m.Text) == strings.TrimSpace(text)
	})
}

// maker makes charts at random.
type maker struct{ *rand.Rand }

// chart writes a chart with up to two charts in it, and what its template reads.
func (m maker) chart(t *testing.T, place, name string, depth int) {
	t.Helper()
	in := chartsIn(depth)
	about := fmt.Sprintf("apiVersion: %s\nname: %s\nversion: 1.0.0\n", m.one("v2", "v2", "v2", "v3"), name)
	if depth > 0 {
		about += "dependencies:\n"
		for _, sub := range in[:m.IntN(3)] {
			m.chart(t, filepath.Join(place, "charts", sub), sub, depth-1)
			about += fmt.Sprintf("- {name: %s, version: 1.0.0%s}\n", sub,
				m.one("", ", condition: "+sub+".enabled", ", condition: 'global.enabled,"+sub+".enabled'", ", alias: other-"+sub))
		}
		about = strings.TrimSuffix(about, "dependencies:\n")
	}
	write(t, filepath.Join(place, "Chart.yaml"), about)
	write(t, filepath.Join(place, "values.yaml"), m.mapping(3, in...)+m.one("", "", "", "---\n"+m.mapping(2, in...)))
	write(t, filepath.Join(place, "templates/v.yaml"), "kind: ConfigMap\napiVersion: v1\nmetadata: {name: "+name+"}\ndata: {v: {{ toJson .Values | quote }}}\n")
}

// chartsIn returns the names of the charts in a chart. Helm looks conditions of a chart up in values among which it has spread those
// of the chart: a name must not be a key there.
func chartsIn(depth int) []string {
	return [][]string{{}, {"c", "d", "other-c", "other-d"}, {"a", "b", "other-a", "other-b"}}[depth]
}

// mapping returns a document with keys of the charts, on lines of their own.
func (m maker) mapping(depth int, charts ...string) string {
	text := ""
	for _, key := range slices.Concat(charts, []string{"x", "w", "enabled", "global"}) {
		if m.IntN(3) > 0 {
			text += fmt.Sprintf("%s: %s\n", key, m.value(key, depth))
		}
	}
	return text
}

// value returns the value of a key in JSON: mostly what Helm expects there.
func (m maker) value(key string, depth int) string {
	switch {
	case key == "enabled" && m.IntN(3) > 0:
		return m.one("true", "false")
	case depth == 0 || m.IntN(3) == 0 || (key == "x" || key == "w" || key == "enabled") && m.IntN(2) == 0:
		if strings.Contains("a b c d other-a other-b other-c other-d", key) || key == "global" && m.IntN(8) > 0 {
			return m.one("{}", "{x: null, w: 1, enabled: null}")
		}
		return m.one("null", "null", "1", "[null]", `"text"`)
	}
	var members []string
	for _, below := range []string{"c", "d", "other-c", "x", "w", "enabled", "global"} {
		if m.IntN(2) == 0 {
			members = append(members, below+": "+m.value(below, depth-1))
		}
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func (m maker) one(texts ...string) string { return texts[m.IntN(len(texts))] }

func write(t *testing.T, place, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(place, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
