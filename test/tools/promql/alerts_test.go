// SPDX-License-Identifier: Apache-2.0

// Package promql evaluates the alerts of config/monitoring by the engine of Prometheus.
package promql

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
	"go.yaml.in/yaml/v3"
)

const rules = "../../../config/monitoring/prometheus_rule.yaml"

// expressions returns those of the alerts by their names.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Spec struct {
			Groups []struct {
				Rules []struct{ Alert, Expr string }
			}
		}
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, group := range file.Spec.Groups {
		for _, rule := range group.Rules {
			found[rule.Alert] = rule.Expr
		}
	}
	return found
}

func TestEveryAlertIsValid(t *testing.T) {
	found := expressions(t)
	if len(found) == 0 {
		t.Fatal("no alerts")
	}
	for name, expression := range found {
		if _, err := parser.NewParser(parser.Options{}).ParseExpr(expression); err != nil {
			t.Errorf("%s: %v", name, err)
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
			if got := deployments(t, expressions(t)["WinnowControllerDown"], test.series); !slices.Equal(got, test.want) {
				t.Errorf("alerts for %q, want %q", got, test.want)
			}
		})
	}
}

// deployments evaluates an expression over series with one value each, and returns the deployments of the result.
func deployments(t *testing.T, expression string, series map[string]float64) []string {
	t.Helper()
	now := time.Unix(1_700_000_000, 0)
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1000, Timeout: time.Minute, Parser: parser.NewParser(parser.Options{})})
	defer engine.Close()
	query, err := engine.NewInstantQuery(t.Context(), memory(t, now, series), nil, expression, now)
	if err != nil {
		t.Fatal(err)
	}
	defer query.Close()
	result, err := query.Exec(t.Context()).Vector()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, one := range result {
		found = append(found, one.Metric.Get("deployment"))
	}
	slices.Sort(found)
	return found
}

// memory is a database with a sample of each series.
func memory(t *testing.T, now time.Time, series map[string]float64) storage.Queryable {
	t.Helper()
	var all []storage.Series
	for name, value := range series {
		metric, err := parser.NewParser(parser.Options{}).ParseMetric(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, promql.NewStorageSeries(promql.Series{
			Metric: metric, Floats: []promql.FPoint{{T: now.Add(-30 * time.Second).UnixMilli(), F: value}}}))
	}
	slices.SortFunc(all, func(a, b storage.Series) int { return strings.Compare(a.Labels().String(), b.Labels().String()) })
	return &storage.MockQueryable{MockQuerier: &storage.MockQuerier{
		SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
			found := &set{at: -1}
			for _, one := range all {
				if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(one.Labels().Get(m.Name)) }) {
					found.series = append(found.series, one)
				}
			}
			return found
		},
	}}
}

// set has the series of a selector.
type set struct {
	series []storage.Series
	at     int
}

func (s *set) Next() bool                        { s.at++; return s.at < len(s.series) }
func (s *set) At() storage.Series                { return s.series[s.at] }
func (s *set) Err() error                        { return nil }
func (s *set) Warnings() annotations.Annotations { return nil }
