// SPDX-License-Identifier: Apache-2.0

// Package metrics measures what Winnow does, as metrics of Prometheus besides the metrics of Flux and controller-runtime.
// It must not know how anything is done: its callers pass names, numbers and times.
//
// The parts of Metrics have methods that may be called on nil, which measure nothing.
package metrics

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the metrics of one controller. With the zero value, nothing is measured.
type Metrics struct {
	Selections *Selections
	Phases     *Phases
	Cache      *Cache
	Traffic    *Traffic
	// Downloads, Renders and Pushes are the queues with these names.
	Downloads, Renders, Pushes *Queue
}

// New returns metrics that registry has from now on. now is the clock of all times and durations.
func New(registry prometheus.Registerer, now func() time.Time) (*Metrics, error) {
	m := &Metrics{
		Selections: newSelections(), Phases: newPhases(now), Cache: newCache(), Traffic: newTraffic(),
		Downloads: newQueue(now), Renders: newQueue(now), Pushes: newQueue(now),
	}
	waits := newQueues(map[string]*Queue{"downloads": m.Downloads, "renders": m.Renders, "pushes": m.Pushes})
	for _, collector := range []prometheus.Collector{m.Selections, m.Phases, m.Cache, m.Traffic, waits} {
		if err := registry.Register(collector); err != nil {
			return nil, fmt.Errorf("registering metrics: %w", err)
		}
	}
	return m, nil
}
