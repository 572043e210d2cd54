// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"container/list"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Queue measures what waits in one queue.
type Queue struct {
	now    func() time.Time
	waited prometheus.Observer

	mu sync.Mutex
	// waits has the time.Time since which each item waits, oldest first.
	waits list.List
}

func newQueue(now func() time.Time) *Queue { return &Queue{now: now} }

// Wait is an item that waits. A nil Wait is none.
type Wait struct {
	queue *Queue
	place *list.Element
}

// Enter returns the wait of an item that waits from now on.
func (q *Queue) Enter() *Wait {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return &Wait{q, q.waits.PushBack(q.now())}
}

// Serve ends the wait of an item whose turn it is.
func (w *Wait) Serve() {
	if since, waited := w.end(); waited {
		w.queue.waited.Observe(w.queue.now().Sub(since).Seconds())
	}
}

// Leave ends the wait of an item that does not wait for its turn any more. After Serve it does nothing.
func (w *Wait) Leave() { _, _ = w.end() }

func (w *Wait) end() (since time.Time, waited bool) {
	if w == nil {
		return time.Time{}, false
	}
	w.queue.mu.Lock()
	defer w.queue.mu.Unlock()
	if w.place == nil {
		return time.Time{}, false
	}
	since = w.queue.waits.Remove(w.place).(time.Time)
	w.place = nil
	return since, true
}

// waiting returns the number of items that wait, and since when the oldest of them does.
func (q *Queue) waiting() (depth int, oldest time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if first := q.waits.Front(); first != nil {
		oldest = first.Value.(time.Time)
	}
	return q.waits.Len(), oldest
}

// queues has the series of all queues, which are known by their names.
type queues struct {
	named         map[string]*Queue
	depth, oldest *prometheus.Desc
	waits         *prometheus.HistogramVec
}

func newQueues(named map[string]*Queue) *queues {
	labels := []string{"queue"}
	q := &queues{
		named: named,
		depth: prometheus.NewDesc("winnow_queue_depth", "The items that wait in a queue.", labels, nil),
		oldest: prometheus.NewDesc("winnow_queue_oldest_timestamp_seconds",
			"Since when the oldest item in a queue waits. Absent while none does.", labels, nil),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "winnow_queue_wait_seconds", Help: "How long items have waited in a queue before their turn.", Buckets: seconds(),
		}, labels),
	}
	for name, queue := range named {
		queue.waited = q.waits.WithLabelValues(name)
	}
	return q
}

// Describe implements prometheus.Collector.
func (q *queues) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- q.depth
	descriptions <- q.oldest
	q.waits.Describe(descriptions)
}

// Collect implements prometheus.Collector.
func (q *queues) Collect(metrics chan<- prometheus.Metric) {
	for name, queue := range q.named {
		depth, oldest := queue.waiting()
		metrics <- prometheus.MustNewConstMetric(q.depth, prometheus.GaugeValue, float64(depth), name)
		if !oldest.IsZero() {
			metrics <- prometheus.MustNewConstMetric(q.oldest, prometheus.GaugeValue, timestamp(oldest), name)
		}
	}
	q.waits.Collect(metrics)
}
