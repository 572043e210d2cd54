// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/controllers/metrics"
)

// clock is advanced by the test.
type clock struct{ passed time.Duration }

func (c *clock) now() time.Time { return time.Unix(1_700_000_000, 0).Add(c.passed) }

func newMetrics(t *testing.T) (*metrics.Metrics, *prometheus.Registry, *clock) {
	t.Helper()
	registry, clock := prometheus.NewPedanticRegistry(), &clock{}
	measured, err := metrics.New(registry, clock.now)
	if err != nil {
		t.Fatal(err)
	}
	return measured, registry, clock
}

// series returns those of a registry whose name has a prefix, as lines NAME LABEL... VALUE, where that of a histogram is
// its count and its sum.
func series(t *testing.T, registry *prometheus.Registry, prefix string) (lines []string) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			line := strings.TrimPrefix(family.GetName(), prefix)
			if line == family.GetName() {
				continue
			}
			for _, label := range metric.GetLabel() {
				line += " " + label.GetValue()
			}
			if histogram := metric.GetHistogram(); histogram != nil {
				line += fmt.Sprint(" ", histogram.GetSampleCount(), " ", histogram.GetSampleSum())
			} else {
				line += fmt.Sprintf(" %.0f", metric.GetGauge().GetValue()+metric.GetCounter().GetValue())
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func equal(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: the series are\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheSeriesOfASelectionAreReplacedAndForgotten(t *testing.T) {
	measured, registry, clock := newMetrics(t)
	key, unmatched := types.NamespacedName{Namespace: "ns", Name: "kkp"}, 2
	equal(t, "before", series(t, registry, "winnow_selection_"))
	measured.Selections.Set(key, metrics.Selection{
		Held: map[string]int{"Removal": 2, "MajorUpgrade": 1}, Unmatched: &unmatched, Published: clock.now(), BehindSince: clock.now().Add(time.Hour),
		Bypassed: 3, BypassedSince: clock.now().Add(-time.Hour), Orphaned: 4,
	})
	equal(t, "held", series(t, registry, "winnow_selection_"),
		"behind_since_timestamp_seconds kkp ns 1700003600", "bypassed_definitions kkp ns 3", "bypassed_since_timestamp_seconds kkp ns 1699996400",
		"held_changes kkp ns MajorUpgrade 1", "held_changes kkp ns Removal 2",
		"orphaned_definitions kkp ns 4", "published_timestamp_seconds kkp ns 1700000000", "unmatched_names kkp ns 2")
	measured.Selections.Set(key, metrics.Selection{Published: clock.now()})
	equal(t, "published", series(t, registry, "winnow_selection_"), "published_timestamp_seconds kkp ns 1700000000")
	measured.Selections.Forget(key)
	equal(t, "forgotten", series(t, registry, "winnow_selection_"))
}

func TestAQueueMeasuresWhatWaitsAndHowLongItHasWaited(t *testing.T) {
	measured, registry, clock := newMetrics(t)
	pushes := func() (lines []string) {
		for _, line := range series(t, registry, "winnow_queue_") {
			if strings.Contains(line, " pushes ") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	equal(t, "empty", pushes(), "depth pushes 0", "wait_seconds pushes 0 0")
	first := measured.Pushes.Enter()
	clock.passed += time.Minute
	second, third := measured.Pushes.Enter(), measured.Pushes.Enter()
	equal(t, "three wait", pushes(), "depth pushes 3", "oldest_timestamp_seconds pushes 1700000000", "wait_seconds pushes 0 0")
	first.Serve()
	first.Serve()
	second.Leave()
	equal(t, "one is served, and one left", pushes(), "depth pushes 1", "oldest_timestamp_seconds pushes 1700000060", "wait_seconds pushes 1 60")
	clock.passed += time.Second
	third.Serve()
	third.Leave()
	equal(t, "all are served", pushes(), "depth pushes 0", "wait_seconds pushes 2 61")
}

func TestThePhasesOfAPublicationAreTimedOneAfterTheOther(t *testing.T) {
	measured, registry, clock := newMetrics(t)
	timing := measured.Phases.Begin()
	for _, phase := range []metrics.Phase{metrics.Untimed, metrics.Select, metrics.Guard, metrics.Guard, metrics.Untimed, metrics.Guard} {
		clock.passed += time.Second
		timing.Enter(phase)
	}
	clock.passed += 1500 * time.Millisecond
	timing.End()
	timing.Add(metrics.Load, time.Minute)
	if got, want := fmt.Sprint(timing.Seconds()), "map[guard:3.5 load:60 select:1]"; got != want {
		t.Errorf("the phases took %s, want %s", got, want)
	}
	equal(t, "the phases", series(t, registry, "winnow_phase_duration_seconds"), " archive 0 0", " assemble 0 0", " commit 0 0",
		" guard 2 3.5", " load 1 60", " select 1 1", " store 0 0", " transform 0 0")
}

func TestTheBytesOfARegistryAreThoseOfBodies(t *testing.T) {
	measured, registry, _ := newMetrics(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
		_, _ = w.Write([]byte("abc"))
	}))
	defer server.Close()
	client := http.Client{Transport: measured.Traffic.OfRegistry(http.DefaultTransport)}
	for _, body := range []string{"", "hello"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		if err != nil || string(got) != body+"abc" {
			t.Errorf("got %q, %v", got, err)
		}
		_ = response.Body.Close()
	}
	equal(t, "downloaded", series(t, registry, "winnow_downloaded_bytes_total"), " artifact 0", " registry 11")
	equal(t, "published", series(t, registry, "winnow_published_bytes_total"), " registry 5", " storage 0")
}

func TestNothingIsMeasuredWithoutMetrics(t *testing.T) {
	var none metrics.Metrics
	none.Selections.Set(types.NamespacedName{}, metrics.Selection{})
	none.Selections.Forget(types.NamespacedName{})
	none.Selections.Of(types.NamespacedName{})
	none.Cache.Limit(1)
	none.Cache.Size(1)
	none.Cache.Hit(1)
	none.Cache.Miss(true)
	none.Cache.Evict()
	none.Traffic.Downloaded(1)
	none.Traffic.Stored(1)
	wait := none.Renders.Enter()
	wait.Serve()
	wait.Leave()
	timing := none.Phases.Begin()
	timing.Enter(metrics.Select)
	timing.End()
	if none.Traffic.OfRegistry(http.DefaultTransport) != http.DefaultTransport || len(timing.Seconds()) > 0 {
		t.Error("something is measured")
	}
}

// A scrape of 1,000 selections with ten conditions, which are all behind and held for two reasons.
func BenchmarkScrapeOf1000Selections(b *testing.B) {
	registry := prometheus.NewRegistry()
	measured, err := metrics.New(registry, time.Now)
	if err != nil {
		b.Fatal(err)
	}
	none := 0
	var all []metav1.Condition
	for i := range 10 {
		all = append(all, metav1.Condition{Type: fmt.Sprint("Condition", i), Status: metav1.ConditionTrue})
	}
	for i := range 1000 {
		key := types.NamespacedName{Namespace: "flux-system", Name: fmt.Sprint("selection-", i)}
		measured.Selections.Set(key, metrics.Selection{
			Conditions: all, Held: map[string]int{"Removal": 1, "VersionRemoval": 2}, Unmatched: &none, Published: time.Now(), BehindSince: time.Now(),
		})
		measured.Selections.Reconciled(key, time.Second)
	}
	var written int
	for b.Loop() {
		response := httptest.NewRecorder()
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		written = response.Body.Len()
	}
	b.ReportMetric(float64(written), "bytes")
}
