// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// Selection is what is measured of one CatalogSelection.
type Selection struct {
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
// with the next scrape: no other part of Metrics has series with the name of an object.
type Selections struct {
	held, unmatched, published, behind, bypassed, bypassedSince, orphaned *prometheus.Desc

	mu  sync.Mutex
	all map[types.NamespacedName]Selection
}

func newSelections() *Selections {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("winnow_selection_"+name, help, append([]string{"namespace", "name"}, labels...), nil)
	}
	return &Selections{
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

// Forget removes the series of a selection.
func (s *Selections) Forget(key types.NamespacedName) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, key)
}

// Describe implements prometheus.Collector.
func (s *Selections) Describe(descriptions chan<- *prometheus.Desc) {
	for _, one := range []*prometheus.Desc{s.held, s.unmatched, s.published, s.behind, s.bypassed, s.bypassedSince, s.orphaned} {
		descriptions <- one
	}
}

// Collect implements prometheus.Collector.
func (s *Selections) Collect(metrics chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, measured := range s.all {
		gauge := func(description *prometheus.Desc, value float64, labels ...string) {
			metrics <- prometheus.MustNewConstMetric(description, prometheus.GaugeValue, value, append([]string{key.Namespace, key.Name}, labels...)...)
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
