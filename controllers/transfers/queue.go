// SPDX-License-Identifier: Apache-2.0

// Package transfers runs downloads and pushes outside of the workers that reconcile, so that a host that hangs delays
// only the transfers to it: few at a time for each namespace, and namespaces in turns. It must not know what is
// transferred.
package transfers

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/winnow-dev/winnow/controllers/metrics"
)

// Limits bounds the transfers that a Queue runs at a time.
type Limits struct {
	// Namespace is the number for each namespace, and Total that for all of them.
	Namespace, Total int
}

// DefaultLimits are the limits of the controller. A transfer that hangs takes a connection and some buffers, so the
// total may be large: sixteen namespaces have to hang before another one waits, and it waits for its turn only.
func DefaultLimits() Limits { return Limits{Namespace: 2, Total: 32} }

// Queue runs transfers within its limits. Namespaces with waiting transfers take turns, and the transfers of a
// namespace run in the order in which they were added. Call New: the zero value is not usable.
type Queue struct {
	// Metrics measures what waits; may be nil. Set it before the first transfer.
	Metrics *metrics.Queue

	limits  Limits
	working sync.WaitGroup

	mu sync.Mutex
	// launch runs a transfer aside; nil while the Queue does not run.
	launch func(*Transfer)
	// waiting maps namespaces to their transfers, oldest first, and turns has these namespaces, the next one first.
	waiting map[string][]*Transfer
	turns   []string
	// taken counts the transfers with a slot, by namespace, and total counts them in all namespaces.
	taken map[string]int
	total int
}

// Transfer is a function in a Queue.
type Transfer struct {
	queue     *Queue
	namespace string
	run       func(context.Context)
	// held is true if the slot is kept until Close.
	held bool

	// The mutex of the queue guards the fields below.
	state  state
	wait   *metrics.Wait
	closed bool
	cancel context.CancelFunc
}

type state int

const (
	waiting state = iota
	running
	ended
)

// New returns an empty Queue. It runs nothing before Start.
func New(limits Limits) *Queue {
	return &Queue{limits: limits, waiting: map[string][]*Transfer{}, taken: map[string]int{}}
}

// Add queues a function for a namespace. Its context ends with Close and with the context of Start.
func (q *Queue) Add(namespace string, run func(context.Context)) *Transfer {
	return q.add(&Transfer{queue: q, namespace: namespace, run: run})
}

// Hold is Add for a function whose result takes memory until a caller takes it: the transfer keeps its slot until
// Close.
func (q *Queue) Hold(namespace string, run func(context.Context)) *Transfer {
	return q.add(&Transfer{queue: q, namespace: namespace, run: run, held: true})
}

func (q *Queue) add(t *Transfer) *Transfer {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting[t.namespace]) == 0 {
		q.turns = append(q.turns, t.namespace)
	}
	q.waiting[t.namespace] = append(q.waiting[t.namespace], t)
	t.wait = q.Metrics.Enter()
	q.dispatch()
	return t
}

// Start runs transfers until the context ends, and returns once all have ended. It implements manager.Runnable.
func (q *Queue) Start(ctx context.Context) error {
	q.mu.Lock()
	q.launch = func(next *Transfer) {
		ctx := q.begin(ctx, next)
		q.working.Go(func() { q.work(ctx, next) })
	}
	q.dispatch()
	q.mu.Unlock()
	<-ctx.Done()
	q.mu.Lock()
	q.launch = nil
	q.mu.Unlock()
	q.working.Wait()
	return nil
}

// RunNext runs the next transfer of a Queue that was not started, and returns false if there is none that may run.
func (q *Queue) RunNext(ctx context.Context) bool {
	q.mu.Lock()
	next := q.next()
	if next == nil {
		q.mu.Unlock()
		return false
	}
	ctx = q.begin(ctx, next)
	q.mu.Unlock()
	q.work(ctx, next)
	return true
}

// dispatch starts the transfers that may run. The caller has locked the mutex.
func (q *Queue) dispatch() {
	if q.launch == nil {
		return
	}
	for next := q.next(); next != nil; next = q.next() {
		q.launch(next)
	}
}

// next removes the transfer whose turn it is from those that wait, and returns nil if none may run.
func (q *Queue) next() *Transfer {
	if q.total >= q.limits.Total {
		return nil
	}
	for i, namespace := range q.turns {
		if q.taken[namespace] >= q.limits.Namespace {
			continue
		}
		first := q.waiting[namespace][0]
		q.turns = slices.Delete(q.turns, i, i+1)
		if q.waiting[namespace] = q.waiting[namespace][1:]; len(q.waiting[namespace]) > 0 {
			q.turns = append(q.turns, namespace)
		} else {
			delete(q.waiting, namespace)
		}
		return first
	}
	return nil
}

// begin gives a transfer its slot, and returns its context.
func (q *Queue) begin(parent context.Context, t *Transfer) (ctx context.Context) {
	ctx, t.cancel = context.WithCancel(parent)
	t.state = running
	t.wait.Serve()
	q.taken[t.namespace]++
	q.total++
	return ctx
}

func (q *Queue) work(ctx context.Context, t *Transfer) {
	defer func() {
		t.cancel()
		q.mu.Lock()
		defer q.mu.Unlock()
		t.state = ended
		if !t.held || t.closed {
			q.release(t)
		}
	}()
	_ = Recover(ctx, "transfer", func() error { t.run(ctx); return nil }) // it is in the log
}

// release frees the slot of a transfer.
func (q *Queue) release(t *Transfer) {
	q.total--
	if q.taken[t.namespace]--; q.taken[t.namespace] == 0 {
		delete(q.taken, t.namespace)
	}
	q.dispatch()
}

// Close ends a transfer in any state and frees its slot, if it runs, once it has ended. It may be called again.
func (t *Transfer) Close() {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.closed {
		return
	}
	t.closed = true
	switch t.state {
	case waiting:
		q.remove(t)
		t.wait.Leave()
	case running:
		t.cancel()
	case ended:
		if t.held {
			q.release(t)
		}
	}
}

// remove removes a transfer that waits.
func (q *Queue) remove(t *Transfer) {
	rest := slices.DeleteFunc(q.waiting[t.namespace], func(other *Transfer) bool { return other == t })
	if q.waiting[t.namespace] = rest; len(rest) == 0 {
		delete(q.waiting, t.namespace)
		q.turns = slices.DeleteFunc(q.turns, func(namespace string) bool { return namespace == t.namespace })
	}
}

// Waits returns what a transfer waits for, named by what the queue transfers, such as downloads. It is empty once the
// transfer runs.
func (t *Transfer) Waits(what string) string {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case t.state != waiting:
		return ""
	case q.taken[t.namespace] >= q.limits.Namespace:
		return fmt.Sprintf("waits for one of %d %s at a time in namespace %s", q.limits.Namespace, what, t.namespace)
	}
	return fmt.Sprintf("waits for one of %d %s at a time of the controller", q.limits.Total, what)
}

// Recover returns a panic of f as an error, and logs it: a response of a registry may make a library panic.
func Recover(ctx context.Context, what string, f func() error) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			ctrl.LoggerFrom(ctx).Error(fmt.Errorf("panic: %v", panicked), what, "stack", string(debug.Stack()))
			err = fmt.Errorf("%s: a bug in Winnow: see the log of the controller", what)
		}
	}()
	return f()
}

// WithValuesOf returns ctx with the values of another context, such as its logger.
func WithValuesOf(ctx, values context.Context) context.Context { return valued{ctx, values} }

type valued struct {
	context.Context
	values context.Context
}

// Value implements context.Context.
func (v valued) Value(key any) any {
	if value := v.Context.Value(key); value != nil {
		return value
	}
	return v.values.Value(key)
}
