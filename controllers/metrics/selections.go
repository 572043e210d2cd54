// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Selection is what is measured of one CatalogSelection.
type Selection struct {
	// Conditions have series, by their types and statuses, and Suspended is spec.suspend.
	Conditions []metav1.Condition
	Suspended  bool
	// Held maps reasons to the numbers of held changes.
	Held map[string]int
	// Unmatched is the number of names in the spec that match nothing; nil while that is not known.
	Unmatched *int
	// Published is when the served artifact was published; zero while none is served.
	Published time.Time
	// BehindSince is since when the newest sources and spec are not what is served; zero if they are.
	BehindSince time.Time
	// Bypassed and Orphaned are the numbers of live definitions that the artifact leaves behind, and BypassedSince is when the
	// oldest bypass was set; zero if that is not known.
	Bypassed, Orphaned int
	BypassedSince      time.Time
}

// Selections has the series of each CatalogSelection, as of its last reconciliation. The series of a forgotten one are gone
// with the next scrape: no other part of Metrics has series with the name of an object. The names and labels that begin with gotk
// are Flux's, whose recorder keeps three series for each condition in memory.
type Selections struct {
	condition, suspend                                                    *prometheus.Desc
	held, unmatched, published, behind, bypassed, bypassedSince, orphaned *prometheus.Desc

	durations *prometheus.HistogramVec

	mu  sync.Mutex
	all map[types.NamespacedName]Selection
}

func newSelections() *Selections {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("winnow_selection_"+name, help, append([]string{"namespace", "name"}, labels...), nil)
	}
	kind := prometheus.Labels{"kind": v1alpha1.CatalogSelectionKind}
	return &Selections{
		condition: prometheus.NewDesc("gotk_reconcile_condition", "The current condition status of a GitOps Toolkit resource reconciliation.",
			[]string{"namespace", "name", "type", "status"}, kind),
		suspend: prometheus.NewDesc("gotk_suspend_status", "The current suspend status of a GitOps Toolkit resource.", []string{"namespace", "name"}, kind),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gotk_reconcile_duration_seconds", Help: "The duration in seconds of a GitOps Toolkit resource reconciliation.",
			Buckets: prometheus.ExponentialBucketsRange(0.01, 1800, 10), ConstLabels: kind,
		}, []string{"namespace", "name"}),
		held:      describe("held_changes", "The changes of a CatalogSelection that safeguards hold, as status.held lists them.", "reason"),
		unmatched: describe("unmatched_names", "The names in the spec of a CatalogSelection that match nothing in its catalogs."),
		published: describe("published_timestamp_seconds", "When the served artifact of a CatalogSelection was published. Absent while none is served."),
		behind: describe("behind_since_timestamp_seconds",
			"Since when the served artifact of a CatalogSelection does not have its newest spec and sources. Absent while it is."),
		bypassed: describe("bypassed_definitions", "The bypassed live definitions that a CatalogSelection holds. Absent without one."),
		bypassedSince: describe("bypassed_since_timestamp_seconds",
			"Since when the oldest bypass of a CatalogSelection is set. Absent if that is not known."),
		orphaned: describe("orphaned_definitions", "The live definitions that left the artifact of a CatalogSelection. Absent without one."),
		all:      map[types.NamespacedName]Selection{},
	}
}

// Of returns what Set has set last.
func (s *Selections) Of(key types.NamespacedName) Selection {
	if s == nil {
		return Selection{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[key]
}

// Set replaces the series of a selection.
func (s *Selections) Set(key types.NamespacedName, measured Selection) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[key] = measured
}

// Reconciled adds the duration of a reconciliation.
func (s *Selections) Reconciled(key types.NamespacedName, took time.Duration) {
	if s != nil {
		s.durations.WithLabelValues(key.Namespace, key.Name).Observe(took.Seconds())
	}
}

// Forget removes the series of a selection.
func (s *Selections) Forget(key types.NamespacedName) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.durations.DeleteLabelValues(key.Namespace, key.Name)
	delete(s.all, key)
}

// Describe implements prometheus.Collector.
func (s *Selections) Describe(descriptions chan<- *prometheus.Desc) {
	s.durations.Describe(descriptions)
	for _, one := range []*prometheus.Desc{s.condition, s.suspend, s.held, s.unmatched, s.published, s.behind, s.bypassed, s.bypassedSince, s.orphaned} {
		descriptions <- one
	}
}

// Collect implements prometheus.Collector.
func (s *Selections) Collect(metrics chan<- prometheus.Metric) {
	s.durations.Collect(metrics)
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, measured := range s.all {
		gauge := func(description *prometheus.Desc, value float64, labels ...string) {
			metrics <- prometheus.MustNewConstMetric(description, prometheus.GaugeValue, value, append([]string{key.Namespace, key.Name}, labels...)...)
		}
		gauge(s.suspend, oneIf(measured.Suspended))
		for _, c := range measured.Conditions {
			for _, status := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown} {
				gauge(s.condition, oneIf(c.Status == status), c.Type, string(status))
			}
		}
		for reason, changes := range measured.Held {
			gauge(s.held, float64(changes), reason)
		}
		if measured.Unmatched != nil {
			gauge(s.unmatched, float64(*measured.Unmatched))
		}
		if !measured.Published.IsZero() {
			gauge(s.published, timestamp(measured.Published))
		}
		if !measured.BehindSince.IsZero() {
			gauge(s.behind, timestamp(measured.BehindSince))
		}
		if measured.Bypassed > 0 {
			gauge(s.bypassed, float64(measured.Bypassed))
		}
		if !measured.BypassedSince.IsZero() {
			gauge(s.bypassedSince, timestamp(measured.BypassedSince))
		}
		if measured.Orphaned > 0 {
			gauge(s.orphaned, float64(measured.Orphaned))
		}
	}
}

// oneIf returns the value of a gauge that is 1 or 0.
func oneIf(set bool) float64 {
	if set {
		return 1
	}
	return 0
}
