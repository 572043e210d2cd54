// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Phase is a part of a publication that is timed.
type Phase string

// The phases of a publication, in order.
const (
	// Load downloads and parses the catalogs that are not in the cache, outside of the worker.
	Load Phase = "load"
	// Select, Transform and Assemble are the parts of a render.
	Select    Phase = "select"
	Transform Phase = "transform"
	Assemble  Phase = "assemble"
	// Guard compares the render with the last one and with the cluster.
	Guard Phase = "guard"
	// Archive packs the artifact, Store writes the archive, and Commit writes the status and the ExternalArtifact.
	Archive Phase = "archive"
	Store   Phase = "store"
	Commit  Phase = "commit"
)

// Untimed is for what is no phase.
const Untimed Phase = ""

// Phases has the durations of the phases, of all selections together.
type Phases struct {
	collectors

	seconds *prometheus.HistogramVec
	now     func() time.Time
}

func newPhases(now func() time.Time) *Phases {
	p := &Phases{now: now, seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "winnow_phase_duration_seconds", Help: "How long the phases of publications take.", Buckets: seconds(),
	}, []string{"phase"})}
	for _, phase := range []Phase{Load, Select, Transform, Assemble, Guard, Archive, Store, Commit} {
		p.seconds.WithLabelValues(string(phase))
	}
	p.collectors = collectors{p.seconds}
	return p
}

// Timing times the phases of one publication, one after the other.
type Timing struct {
	phases *Phases
	phase  Phase
	since  time.Time
	took   map[Phase]time.Duration
}

// Begin returns the Timing of a publication.
func (p *Phases) Begin() *Timing { return &Timing{phases: p, took: map[Phase]time.Duration{}} }

// Enter ends the present phase and begins the next one, unless that is the present one.
func (t *Timing) Enter(next Phase) {
	if t == nil || t.phases == nil || next == t.phase {
		return
	}
	now := t.phases.now()
	if t.phase != Untimed {
		t.Add(t.phase, now.Sub(t.since))
	}
	t.phase, t.since = next, now
}

// Add adds a phase that something else has timed.
func (t *Timing) Add(phase Phase, took time.Duration) {
	if t == nil || t.phases == nil {
		return
	}
	t.phases.seconds.WithLabelValues(string(phase)).Observe(took.Seconds())
	t.took[phase] += took
}

// End ends the present phase.
func (t *Timing) End() { t.Enter(Untimed) }

// Seconds maps the phases that have ended to their durations.
func (t *Timing) Seconds() map[string]float64 {
	all := map[string]float64{}
	for phase, took := range t.took {
		all[string(phase)] = took.Round(time.Millisecond).Seconds()
	}
	return all
}
