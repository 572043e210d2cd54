// SPDX-License-Identifier: Apache-2.0

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
)

// now is the time of all queries.
var now = time.Unix(1_700_000_000, 0)

// minutes is the number of samples of a series, one each minute until now.
const minutes = 180

func newParser() parser.Parser { return parser.NewParser(parser.Options{}) }

// database has series in the notation of promtool: a metric, and its values each minute. A last one that is alone stands for
// all that follow, and 0+1 for a counter.
type database []storage.Series

func newDatabase(t *testing.T, lines ...string) (all database) {
	t.Helper()
	for _, line := range lines {
		metric, values, err := newParser().ParseSeriesDesc(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		series := promql.Series{Metric: metric}
		for i := range minutes {
			value := values[min(i, len(values)-1)]
			if !value.Omitted {
				at := now.Add(time.Duration(i-minutes+1) * time.Minute)
				series.Floats = append(series.Floats, promql.FPoint{T: at.UnixMilli(), F: value.Value})
			}
		}
		all = append(all, promql.NewStorageSeries(series))
	}
	slices.SortFunc(all, func(a, b storage.Series) int { return strings.Compare(a.Labels().String(), b.Labels().String()) })
	return all
}

// Querier implements storage.Queryable.
func (d database) Querier(_, _ int64) (storage.Querier, error) {
	return &storage.MockQuerier{
		SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
			found := &set{at: -1}
			for _, one := range d {
				if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(one.Labels().Get(m.Name)) }) {
					found.series = append(found.series, one)
				}
			}
			return found
		},
	}, nil
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

// at returns the result of an expression at a time.
func (d database) at(t *testing.T, expression string, at time.Time) promql.Vector {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1_000_000, Timeout: time.Minute, Parser: newParser()})
	defer engine.Close()
	query, err := engine.NewInstantQuery(t.Context(), d, nil, expression, at)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	defer query.Close()
	result := query.Exec(t.Context())
	if len(result.Warnings) > 0 {
		t.Errorf("%s: %v", expression, result.Warnings)
	}
	vector, err := result.Vector()
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return slices.Clone(vector)
}

// exposed returns the metrics of a controller and their types, which a test of the product keeps as they are.
func exposed(t *testing.T) (series []string, types map[string]string) {
	t.Helper()
	content, err := os.ReadFile("../../../controllers/testdata/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	types = map[string]string{}
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if described, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(described, " ")
			types[name] = kind
			continue
		}
		series = append(series, line)
	}
	if len(series) < 50 || len(types) < 10 {
		t.Fatalf("%d series of %d metrics", len(series), len(types))
	}
	return series, types
}

// scraped returns the metrics of a controller as the PodMonitor makes Prometheus store them, with the values that value
// returns, or without those for which it returns an empty string.
func scraped(t *testing.T, value func(series string) string) (lines []string) {
	t.Helper()
	series, types := exposed(t)
	add := func(series, value string) {
		if value != "" {
			lines = append(lines, series+" "+value)
		}
	}
	for _, one := range series {
		name, set, _ := strings.Cut(one, "{")
		set = strings.ReplaceAll(","+strings.TrimSuffix(set, "}"), ",namespace=", ",exported_namespace=")
		set = `{namespace="winnow-system",pod="winnow-controller-6b9d-x2x",container="manager",job="winnow-system/winnow-controller"` + strings.TrimSuffix(set, ",")
		switch {
		case types[name] == "histogram":
			for _, bound := range []string{"0.1", "10", "+Inf"} {
				add(name+"_bucket"+set+`,le="`+bound+`"}`, "0+1x200")
			}
			add(name+"_count"+set+"}", "0+1x200")
			add(name+"_sum"+set+"}", "0+1x200")
		default:
			add(name+set+"}", value(one))
		}
	}
	return lines
}
