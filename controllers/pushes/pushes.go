// SPDX-License-Identifier: Apache-2.0

// Package pushes pushes rendered artifacts to registries. It must not know how an artifact is rendered, nor
// when a selection is reconciled: it enqueues a selection when the result of its push changes.
package pushes

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/fluxcd/pkg/artifact/storage"
	"github.com/fluxcd/pkg/runtime/jitter"
	"golang.org/x/sync/semaphore"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/winnow-dev/winnow/controllers/memory"
	"github.com/winnow-dev/winnow/controllers/metrics"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/controllers/transfers"
	"github.com/winnow-dev/winnow/render"
)

// Pushes pushes rendered artifacts to registries, outside of the workers that reconcile: a registry that hangs delays
// no ExternalArtifact, and only the pushes of its namespace. It checks a pushed artifact again at the selection's
// interval, and retries failures with backoff.
type Pushes struct {
	sender
	storage *storage.Storage
	// queue has the selections that are due, and turns runs their pushes.
	queue workqueue.TypedRateLimitingInterface[ctrl.Request]
	turns *transfers.Queue
	// Enqueue adds selections to the queue of the controller. It is required.
	Enqueue func(context.Context, ...types.NamespacedName)

	mu      sync.Mutex
	jobs    map[types.NamespacedName]pushJob
	results map[types.NamespacedName]pushResult
	// queued has the pushes that wait for their turn or run.
	queued map[types.NamespacedName]*transfers.Transfer
}

// Options configures Pushes. All fields but Metrics are required.
type Options struct {
	Registries *registries.Registries
	// Failures has the connections that do not answer.
	Failures *transfers.Failures
	// Memory bounds the artifacts that are read at a time.
	Memory *memory.Budget
	// Storage has the archives.
	Storage *storage.Storage
	// Queue has the selections to push, with the backoff of failures.
	Queue workqueue.TypedRateLimitingInterface[ctrl.Request]
	// Metrics measures the pushes that wait; may be nil.
	Metrics *metrics.Queue
}

// New returns Pushes without jobs.
func New(o Options) *Pushes {
	turns := transfers.New(transfers.DefaultLimits())
	turns.Metrics = o.Metrics
	return &Pushes{
		sender: sender{
			registries: o.Registries, failures: o.Failures, sending: memory.New(memory.SendBytes), packing: semaphore.NewWeighted(1),
			reading: o.Memory, comparing: semaphore.NewWeighted(1), readArtifact: render.ReadArtifact,
		},
		storage: o.Storage, queue: o.Queue, turns: turns,
		jobs:    map[types.NamespacedName]pushJob{},
		results: map[types.NamespacedName]pushResult{},
		queued:  map[types.NamespacedName]*transfers.Transfer{},
	}
}

// pushResult is the last result of a job.
type pushResult struct {
	// url is the address of the artifact with its digest.
	url string
	err error
}

// enqueue queues the job, unless it is done or queued, and returns its last result, if it has one.
func (p *Pushes) enqueue(key types.NamespacedName, job pushJob) (pushResult, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, queued := p.jobs[key]
	same := job
	same.last = last.last // what this job has pushed makes no other job
	if queued && reflect.DeepEqual(last, same) {
		result, known := p.results[key]
		return result, known
	}
	p.jobs[key] = job
	delete(p.results, key)
	p.queue.Forget(ctrl.Request{NamespacedName: key})
	p.queue.Add(ctrl.Request{NamespacedName: key})
	return pushResult{}, false
}

// Forget ends the pushes of a selection. One that waits for its turn ends when it has it, and takes no time then.
func (p *Pushes) Forget(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if turn, ok := p.queued[key]; ok && turn.Waits("pushes") == "" {
		turn.Close()
	}
	delete(p.jobs, key)
	delete(p.results, key)
	p.noted.forget(key)
	p.queue.Forget(ctrl.Request{NamespacedName: key})
}

// Start runs pushes until the context ends, and returns once all have ended. It implements manager.Runnable.
func (p *Pushes) Start(ctx context.Context) error {
	var working sync.WaitGroup
	working.Go(func() {
		for key, ok := p.line(); ok; key, ok = p.line() {
			p.reportWaiting(ctx, key)
		}
	})
	err := p.turns.Start(ctx)
	p.queue.ShutDown()
	working.Wait()
	return err
}

// Next runs the next job of the queue, of Pushes that were not started. It returns false once the queue is shut down.
func (p *Pushes) Next(ctx context.Context) bool {
	_, ok := p.line()
	return ok && p.turns.RunNext(ctx)
}

// line lets the next job of the queue wait for its turn. It returns false once the queue is shut
// down.
func (p *Pushes) line() (types.NamespacedName, bool) {
	item, end := p.queue.Get()
	if end {
		return types.NamespacedName{}, false
	}
	key := item.NamespacedName
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queued[key] = p.turns.Add(key.Namespace, func(ctx context.Context) {
		defer p.queue.Done(item) // until then, the queue has the selection once
		p.attempt(ctx, item)
	})
	return key, true
}

// reportWaiting enqueues a selection whose first push has to wait for its turn, so that its condition reports that.
func (p *Pushes) reportWaiting(ctx context.Context, key types.NamespacedName) {
	p.mu.Lock()
	_, pushed := p.results[key]
	p.mu.Unlock()
	if !pushed && p.waits(key) != "" {
		p.Enqueue(ctx, key)
	}
}

// waits returns what a push waits for as the end of a sentence, an empty string if it runs.
func (p *Pushes) waits(key types.NamespacedName) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if turn, ok := p.queued[key]; ok {
		if reason := turn.Waits("pushes"); reason != "" {
			return " " + reason
		}
	}
	return ""
}

// attempt pushes the job of a selection, and queues the next attempt.
func (p *Pushes) attempt(ctx context.Context, item ctrl.Request) {
	key := item.NamespacedName
	defer p.leave(key)
	p.mu.Lock()
	job, exists := p.jobs[key]
	p.mu.Unlock()
	if !exists {
		return
	}
	var url string
	err := transfers.Recover(ctx, "pushing "+job.selection, func() (err error) {
		url, err = p.push(ctx, key, job)
		return err
	})
	if ctx.Err() != nil {
		return // the end of the context, or Forget, interrupted the push, not the registry
	}
	if p.record(key, job, pushResult{url, err}) {
		p.Enqueue(ctx, key)
	}
	if err == nil {
		p.queue.Forget(item)
		p.queue.AddAfter(item, jitter.JitteredIntervalDuration(job.interval))
		return
	}
	if unanswered, ok := errors.AsType[*transfers.UnansweredError](err); ok {
		p.queue.AddAfter(item, unanswered.In)
	} else {
		p.queue.AddRateLimited(item)
	}
	ctrl.LoggerFrom(ctx).Info("not pushed", "selection", job.selection, "url", job.access.URL, "reason", err.Error())
}

// leave ends the turn of a push.
func (p *Pushes) leave(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.queued, key)
	if _, ok := p.jobs[key]; !ok {
		p.noted.forget(key) // which the push has noted meanwhile
	}
}

// record stores the result, unless the job has changed, and reports whether the result has.
func (p *Pushes) record(key types.NamespacedName, job pushJob, result pushResult) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now, ok := p.jobs[key]; !ok || !reflect.DeepEqual(now, job) {
		return false
	}
	last, known := p.results[key]
	p.results[key] = result
	return !known || last.url != result.url || fmt.Sprint(last.err) != fmt.Sprint(result.err)
}
