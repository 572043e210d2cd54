// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/timestamp"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/template"
	"go.yaml.in/yaml/v3"
)

// alerts returns the rules of config/monitoring by their names, checked as promtool does.
func alerts(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	data, err := os.ReadFile("../../../config/monitoring/prometheus_rule.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var object struct{ Spec yaml.Node }
	if err := yaml.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	spec, err := yaml.Marshal(&object.Spec)
	if err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(spec, false, model.UTF8Validation, newParser(), slog.Default())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	found := map[string]rulefmt.Rule{}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" || found[rule.Alert].Alert != "" {
				t.Errorf("a rule is no alert, or is there twice: %+v", rule)
			}
			found[rule.Alert] = rule
		}
	}
	return found
}

// firing returns the labels of the alerts of a rule that fire now: its expression has been true for as long as the rule asks.
func (d database) firing(t *testing.T, rule rulefmt.Rule) (found []string) {
	t.Helper()
	active := map[string]promql.Sample{}
	for before := time.Duration(0); before <= time.Duration(rule.For); before += time.Minute {
		present := map[string]promql.Sample{}
		for _, sample := range d.at(t, rule.Expr, now.Add(-before)) {
			set := labels.NewBuilder(sample.Metric).Del(labels.MetricName).Labels().String()
			if _, stays := active[set]; before == 0 || stays {
				present[set] = sample
			}
		}
		if before > 0 { // the value is that of now
			for set := range present {
				present[set] = active[set]
			}
		}
		active = present
	}
	for set, sample := range active {
		found = append(found, set)
		d.expand(t, rule, sample)
	}
	slices.Sort(found)
	return found
}

// expand expands the annotations of an alert.
func (d database) expand(t *testing.T, rule rulefmt.Rule, sample promql.Sample) {
	t.Helper()
	data := template.AlertTemplateData(sample.Metric.Map(), nil, "", sample)
	for name, text := range rule.Annotations {
		text = "{{$labels := .Labels}}{{$value := .Value}}" + text
		expanded, err := template.NewTemplateExpander(t.Context(), text, rule.Alert, data, model.Time(timestamp.FromTime(now)), nil, nil, nil).Expand()
		if err != nil || strings.Contains(expanded, "<no value>") || strings.Contains(expanded, "  ") || strings.Contains(expanded, " /") {
			t.Errorf("%s has the %s %q, %v", rule.Alert, name, expanded, err)
		}
	}
}

// healthy returns a value for each series of a controller that has nothing to report.
func healthy(series string) string {
	is := func(parts ...string) bool {
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(series, part) })
	}
	switch {
	case is("behind_since"), is("bypassed"), is("orphaned"), is("oldest_timestamp"), is("held_changes"):
		return ""
	case is("timestamp"):
		return fmt.Sprint(now.Add(-time.Hour).Unix())
	case is("gotk_reconcile_condition", `status="True"`):
		for _, good := range []string{"Ready", "SourceReady", "Applied", "Pushed", "InstancesReady"} {
			if is(`type="` + good + `"`) {
				return "1"
			}
		}
		return "0"
	case is(`status="False"`, `type="Held"`):
		return "1"
	case is("_total") && !is("evict"):
		return "0+1x200"
	}
	return "0"
}

// changed returns the series of a healthy controller, of which those that contain all of the parts have another value.
func changed(t *testing.T, value string, parts ...string) []string {
	t.Helper()
	return scraped(t, func(series string) string {
		if slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(series, part) }) {
			return healthy(series)
		}
		return value
	})
}

// condition returns the series of a controller of which a condition has had a status for some minutes.
func condition(t *testing.T, name, status string, since int) []string {
	t.Helper()
	return changed(t, fmt.Sprintf("0x%d 1x%d", minutes-since-1, since), "gotk_reconcile_condition", `type="`+name+`"`, `status="`+status+`"`)
}

func TestAlerts(t *testing.T) {
	const selection = `{exported_namespace="flux-system", name="kkp"}`
	ago := func(d time.Duration) string { return fmt.Sprint(now.Add(-d).Unix()) }
	const up = `up{pod="winnow-controller-6b9d-x2x",container="manager",namespace="winnow-system"} 1`
	slow := func() (lines []string) {
		for _, line := range scraped(t, healthy) {
			if strings.HasPrefix(line, "gotk_reconcile_duration_seconds_bucket") && !strings.Contains(line, "+Inf") {
				line = strings.Replace(line, "0+1x200", "0", 1)
			}
			lines = append(lines, strings.Replace(line, `le="10"`, `le="90"`, 1))
		}
		return lines
	}
	checked := map[string]bool{}
	for _, test := range []struct {
		alert, name string
		series      []string
		want        []string
	}{
		{"CatalogSelectionNotReady", "for 20 minutes", condition(t, "Ready", "False", 20), []string{selection}},
		{"CatalogSelectionNotReady", "for 10 minutes", condition(t, "Ready", "False", 10), nil},
		{"CatalogSelectionNotReady", "once in a while", changed(t, "0 1 0 1x2 0 1 0"+strings.Repeat(" 1 1 0", 50), `type="Ready"`, `status="False"`), nil},
		{"CatalogSelectionStalled", "for 20 minutes", condition(t, "Stalled", "True", 20), []string{selection}},
		{"CatalogSelectionHeld", "for 20 minutes", condition(t, "Held", "True", 20), []string{selection}},
		{"CatalogSelectionSourceNotReady", "for 20 minutes", condition(t, "SourceReady", "False", 20), []string{selection}},
		{"CatalogSelectionNotApplied", "for 20 minutes", condition(t, "Applied", "False", 20), nil},
		{"CatalogSelectionNotApplied", "for 40 minutes", condition(t, "Applied", "False", 40), []string{selection}},
		{"CatalogSelectionInstancesNotReady", "for 40 minutes", condition(t, "InstancesReady", "False", 40), []string{selection}},
		{"CatalogSelectionNotPushed", "for 40 minutes", condition(t, "Pushed", "False", 40), []string{selection}},
		{"CatalogSelectionBehind", "for a day", changed(t, ago(25*time.Hour), "behind_since"), []string{selection}},
		{"CatalogSelectionBehind", "for hours", changed(t, ago(20*time.Hour), "behind_since"), nil},
		{"CatalogSelectionBehind", "until now", changed(t, ago(25*time.Hour)+strings.Repeat(" "+ago(25*time.Hour), 150)+" _x40", "behind_since"), nil},
		{"CatalogSelectionUnmatched", "for 2 hours", changed(t, "0x59 2x120", "unmatched_names"), []string{selection}},
		{"CatalogSelectionUnmatched", "for minutes", changed(t, "0x150 2x30", "unmatched_names"), nil},
		{"CatalogSelectionBypassed", "for 31 days", changed(t, ago(31*24*time.Hour), "bypassed_since"), []string{selection}},
		{"CatalogSelectionBypassed", "for 29 days", changed(t, ago(29*24*time.Hour), "bypassed_since"), nil},
		{"CatalogSelectionSlow", "all take longer than a minute", slow(), []string{selection}},
		{"WinnowQueueStuck", "for an hour", changed(t, ago(time.Hour), "oldest_timestamp"),
			[]string{`{namespace="winnow-system", pod="winnow-controller-6b9d-x2x", queue="renders"}`}},
		{"WinnowQueueStuck", "for minutes", changed(t, ago(20*time.Minute), "oldest_timestamp"), nil},
		{"WinnowCatalogCacheTooSmall", "a catalog a minute", changed(t, "0+1x200", `result="evicted"`),
			[]string{`{namespace="winnow-system", pod="winnow-controller-6b9d-x2x"}`}},
		{"WinnowCatalogCacheTooSmall", "nine at once", changed(t, "0x150 9x30", `result="evicted"`), nil},
		{"WinnowControllerDown", "none runs", nil, []string{"{}"}},
	} {
		t.Run(test.alert+" "+test.name, func(t *testing.T) {
			series := test.series
			if series != nil {
				series = append(series, up)
			}
			d := newDatabase(t, series...)
			for name, rule := range alerts(t) {
				var want []string
				if name == test.alert {
					want = test.want
				}
				got := d.firing(t, rule)
				if name == "WinnowControllerDown" && len(got) == 1 && strings.Contains(got[0], "container") {
					got = []string{"{}"} // of absent(), which has the labels of its selector
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s fires for %q, want %q", name, got, want)
				}
			}
			checked[test.alert] = checked[test.alert] || len(test.want) > 0
		})
	}
	for name := range alerts(t) {
		if !checked[name] {
			t.Errorf("no test makes %s fire", name)
		}
	}
}

// A shard that is down must not hide behind one that runs.
func TestEveryShardIsWatched(t *testing.T) {
	const (
		first  = `up{pod="winnow-controller-6b9d-x2x",container="manager",namespace="winnow-system"}`
		shard  = `up{pod="winnow-controller-shard1-7c4f-abc",container="manager",namespace="winnow-system"}`
		wanted = `kube_deployment_spec_replicas{namespace="winnow-system",deployment="winnow-controller"}`
		wants1 = `kube_deployment_spec_replicas{namespace="winnow-system",deployment="winnow-controller-shard1"}`
		has    = `kube_deployment_status_replicas_available{namespace="winnow-system",deployment="winnow-controller"}`
		has1   = `kube_deployment_status_replicas_available{namespace="winnow-system",deployment="winnow-controller-shard1"}`
		other  = `kube_deployment_spec_replicas{namespace="flux-system",deployment="source-controller"}`
	)
	for _, test := range []struct {
		name   string
		series map[string]float64
		// want are the deployments of the alerts, empty for one that names none.
		want []string
	}{
		{"all run", map[string]float64{first: 1, shard: 1, wanted: 1, wants1: 1, has: 1, has1: 1, other: 1}, nil},
		{"a shard is down", map[string]float64{first: 1, shard: 0, wanted: 1, wants1: 1, has: 1, has1: 0}, []string{"winnow-controller-shard1"}},
		{"a shard never had a pod", map[string]float64{first: 1, wanted: 1, wants1: 1, has: 1}, []string{"winnow-controller-shard1"}},
		{"a shard runs and is not ready", map[string]float64{first: 1, shard: 1, wanted: 1, wants1: 1, has: 1, has1: 0}, []string{"winnow-controller-shard1"}},
		{"the first one is down", map[string]float64{first: 0, shard: 1, wanted: 1, wants1: 1, has: 0, has1: 1}, []string{"winnow-controller"}},
		{"all are down", map[string]float64{first: 0, wanted: 1, wants1: 1, has: 0, has1: 0}, []string{"winnow-controller", "winnow-controller-shard1"}},
		{"a shard is scaled to none", map[string]float64{first: 1, wanted: 1, wants1: 0, has: 1, has1: 0}, nil},
		{"without kube-state-metrics, one runs", map[string]float64{first: 1}, nil},
		{"without kube-state-metrics, none runs", map[string]float64{first: 0}, []string{""}},
		{"nothing is known", nil, []string{""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var lines []string
			for series, value := range test.series {
				lines = append(lines, fmt.Sprint(series, " ", value))
			}
			var got []string
			for _, alert := range newDatabase(t, lines...).at(t, alerts(t)["WinnowControllerDown"].Expr, now) {
				got = append(got, alert.Metric.Get("deployment"))
			}
			if slices.Sort(got); !slices.Equal(got, test.want) {
				t.Errorf("alerts for %q, want %q", got, test.want)
			}
		})
	}
}
