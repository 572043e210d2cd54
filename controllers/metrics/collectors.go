// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// collectors are metrics whose series all exist from the start.
type collectors []prometheus.Collector

// Describe implements prometheus.Collector.
func (all collectors) Describe(descriptions chan<- *prometheus.Desc) {
	for _, one := range all {
		one.Describe(descriptions)
	}
}

// Collect implements prometheus.Collector.
func (all collectors) Collect(metrics chan<- prometheus.Metric) {
	for _, one := range all {
		one.Collect(metrics)
	}
}

// seconds are the buckets of all durations: from a millisecond to the ten minutes that a load may take.
func seconds() []float64 {
	return []float64{0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}
}

// timestamp returns a time in seconds since 1970.
func timestamp(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
