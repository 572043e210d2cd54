// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

// dashboard is the part of Grafana's format that is checked.
type dashboard struct {
	Title, UID    string
	SchemaVersion int
	Templating    struct{ List []variable }
	Panels        []panel
}

type variable struct {
	Name, Type string
	Datasource *datasource
	Definition string
}

type datasource struct{ Type, UID string }

type panel struct {
	ID                       int
	Type, Title, Description string
	Datasource               *datasource
	GridPos                  struct{ H, W, X, Y int }
	FieldConfig              struct{ Defaults struct{ Unit string } }
	Targets                  []struct {
		RefID, Expr, LegendFormat string
		Datasource                *datasource
	}
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	content, err := os.ReadFile("../../../config/monitoring/dashboards/winnow.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(content, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Panels) < 10 {
		t.Fatalf("%d panels", len(d.Panels))
	}
	return d
}

func TestTheDashboardIsComplete(t *testing.T) {
	d := readDashboard(t)
	if d.Title == "" || d.UID == "" || d.SchemaVersion == 0 {
		t.Error("the dashboard has no title, uid or schemaVersion")
	}
	chosen := func(where string, source *datasource) {
		if source == nil || source.Type != "prometheus" || source.UID != "${datasource}" {
			t.Errorf("%s has the data source %+v, want the one that a variable chooses", where, source)
		}
	}
	for _, v := range d.Templating.List {
		if v.Type != "datasource" {
			chosen("the variable "+v.Name, v.Datasource)
		}
	}
	ids, titles := map[int]bool{}, map[string]bool{}
	for i, p := range d.Panels {
		if p.ID == 0 || ids[p.ID] || titles[p.Title] {
			t.Errorf("the panel %q has the id %d; ids and titles have to be unique", p.Title, p.ID)
		}
		ids[p.ID], titles[p.Title] = true, true
		if g := p.GridPos; g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
			t.Errorf("the panel %q lies outside of the grid: %+v", p.Title, g)
		}
		for _, other := range d.Panels[:i] {
			a, b := p.GridPos, other.GridPos
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("the panels %q and %q overlap", p.Title, other.Title)
			}
		}
		if p.Type == "row" {
			continue
		}
		chosen("the panel "+p.Title, p.Datasource)
		if p.Title == "" || p.Description == "" || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
			t.Errorf("the panel %q has no title, description, unit or expression", p.Title)
		}
		for _, target := range p.Targets {
			chosen("an expression of "+p.Title, target.Datasource)
		}
	}
}

var (
	use    = regexp.MustCompile(`\$\{?([a-z_]+)`)
	legend = regexp.MustCompile(`{{(\w+)}}`)
)

// expressions returns those of the dashboard, with the variables as Grafana replaces them, by the titles of their panels.
func (d dashboard) expressions() map[string][]string {
	replaced := []string{"$__rate_interval", "5m"}
	for _, v := range d.Templating.List {
		replaced = append(replaced, `"$`+v.Name+`"`, `".*"`)
	}
	found := map[string][]string{}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			found[p.Title] = append(found[p.Title], strings.NewReplacer(replaced...).Replace(target.Expr))
		}
	}
	return found
}

// Over a controller of which every series exists, every expression has a result with the labels that the legend shows.
func TestEveryPanelShowsSomething(t *testing.T) {
	const pod = `{namespace="winnow-system",pod="winnow-controller-6b9d-x2x",container="manager",job="winnow-system/winnow-controller"`
	lines := scraped(t, func(series string) string {
		if strings.Contains(series, "_total") {
			return "0+1x200"
		}
		return "1"
	})
	d := newDatabase(t, append(lines, `up`+pod+`} 1`,
		`controller_runtime_reconcile_total`+pod+`,controller="catalogselection",result="success"} 0+1x200`,
		`workqueue_depth`+pod+`,controller="catalogselection",name="catalogselection",priority=""} 1`,
		`process_resident_memory_bytes`+pod+`} 1`, `process_cpu_seconds_total`+pod+`} 0+1x200`, `go_goroutines`+pod+`} 1`)...)
	shown := readDashboard(t)
	expressions, used := shown.expressions(), map[string]bool{}
	for _, p := range shown.Panels {
		for i, target := range p.Targets {
			for _, match := range use.FindAllStringSubmatch(target.Expr, -1) {
				used[match[1]] = true
			}
			expression := expressions[p.Title][i]
			if strings.Contains(expression, "$") {
				t.Errorf("%s: a variable is not defined: %s", p.Title, expression)
				continue
			}
			result := d.at(t, expression, now)
			if len(result) == 0 {
				t.Errorf("%s: nothing comes of %s", p.Title, expression)
			}
			for _, match := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
				for _, sample := range result {
					if !sample.Metric.Has(match[1]) {
						t.Errorf("%s: the legend shows %s, which the result %s has not", p.Title, match[1], sample.Metric)
					}
				}
			}
			if p.Type == "stat" && (len(result) != 1 || result[0].F == 0) {
				t.Errorf("%s: the number comes of %v", p.Title, result)
			}
		}
	}
	for _, v := range shown.Templating.List {
		if v.Type == "datasource" {
			continue
		}
		selector, label, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(v.Definition, "label_values("), ")"), ", ")
		if result := d.at(t, strings.ReplaceAll(selector, `"$selection_namespace"`, `".*"`), now); len(result) == 0 || !result[0].Metric.Has(label) {
			t.Errorf("the variable %s has no values: %s", v.Name, v.Definition)
		}
		if !used[v.Name] {
			t.Errorf("no panel uses the variable %s", v.Name)
		}
	}
}

// documented is a row of the table of metrics.
var documented = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (gauge|counter|histogram) \\|")

// Who builds on the metrics has docs/controller.md, which other tests compare with a controller that runs.
func TestMetricsAreDocumentedAndShown(t *testing.T) {
	page, err := os.ReadFile("../../../docs/controller.md")
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"up", "kube_deployment_spec_replicas", "kube_deployment_status_replicas_available"} // of Prometheus and kube-state-metrics
	for _, row := range documented.FindAllStringSubmatch(string(page), -1) {
		known = append(known, row[1])
		if row[2] == "histogram" {
			known = append(known, row[1]+"_bucket", row[1]+"_sum", row[1]+"_count")
		}
	}
	names := func(expressions ...string) (found []string) {
		for _, expression := range expressions {
			parsed, err := newParser().ParseExpr(expression)
			if err != nil {
				t.Fatalf("%s: %v", expression, err)
			}
			parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
				if selector, ok := node.(*parser.VectorSelector); ok {
					found = append(found, selector.Name)
				}
				return nil
			})
		}
		return found
	}
	var shown []string
	for title, expressions := range readDashboard(t).expressions() {
		for _, name := range names(expressions...) {
			shown = append(shown, strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count"))
			if !slices.Contains(known, name) {
				t.Errorf("the panel %q has %s, which docs/controller.md has not", title, name)
			}
		}
	}
	for alert, rule := range alerts(t) {
		for _, name := range names(rule.Expr) {
			if !slices.Contains(known, name) {
				t.Errorf("%s has %s, which docs/controller.md has not", alert, name)
			}
		}
	}
	_, types := exposed(t)
	for name := range types {
		if !slices.Contains(shown, name) {
			t.Errorf("no panel shows %s", name)
		}
	}
}
