// Package pushes puts rendered artifacts into registries. It must not know how an artifact is rendered, nor
// when a selection is reconciled: it enqueues a selection when there is news of its push.
package pushes

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"sync"
	"time"

	"github.com/fluxcd/pkg/artifact/storage"
	"github.com/fluxcd/pkg/runtime/jitter"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/registries"
)

// pushTimeout bounds a push: a registry that hangs must not keep a worker.
const pushTimeout = 2 * time.Minute

// Pushes puts rendered artifacts into registries. It has workers of its own, so that a registry that
// hangs holds back no ExternalArtifact. What was pushed is looked at again at the selection's interval,
// and what failed is tried again with backoff.
type Pushes struct {
	registries *registries.Registries
	storage    *storage.Storage
	queue      workqueue.TypedRateLimitingInterface[ctrl.Request]
	workers    int
	// Enqueue puts selections into the queue of the controller. It is required.
	Enqueue func(context.Context, ...types.NamespacedName)

	mu      sync.Mutex
	jobs    map[types.NamespacedName]pushJob
	results map[types.NamespacedName]pushResult
}

// Options say how artifacts are pushed. All fields are required.
type Options struct {
	Registries *registries.Registries
	// Storage holds the archives that are pushed.
	Storage *storage.Storage
	// Queue holds what is to be pushed, with the backoff of what failed.
	Queue workqueue.TypedRateLimitingInterface[ctrl.Request]
	// Workers is the number of pushes at a time.
	Workers int
}

// New returns pushes without any job.
func New(o Options) *Pushes {
	return &Pushes{
		registries: o.Registries, storage: o.Storage, queue: o.Queue, workers: o.Workers,
		jobs:    map[types.NamespacedName]pushJob{},
		results: map[types.NamespacedName]pushResult{},
	}
}

// pushJob is what is to be in a registry, and how that is reached.
type pushJob struct {
	uid    types.UID
	access registries.Access
	tags   []string
	// file is the path of the archive, and digest that of its content.
	file, digest string
	// What the manifest says: the revision of the artifact, those of the sources, and namespace/name
	// of the selection.
	revision, sources, selection string
	// compared are the revisions that the artifact was compared with on its way; of others, the
	// safeguards say what is held, unless it is approved.
	compared   []string
	safeguards v1alpha1.Safeguards
	approved   bool
	// interval after which the registry is looked at again.
	interval time.Duration
}

// pushResult is how a job ended last.
type pushResult struct {
	// url of the artifact, by its digest.
	url string
	err error
}

// enqueue queues the job, unless it is done or queued, and returns its last result, if there is one.
func (p *Pushes) enqueue(key types.NamespacedName, job pushJob) (pushResult, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last, ok := p.jobs[key]; ok && reflect.DeepEqual(last, job) {
		result, known := p.results[key]
		return result, known
	}
	p.jobs[key] = job
	delete(p.results, key)
	p.queue.Forget(ctrl.Request{NamespacedName: key})
	p.queue.Add(ctrl.Request{NamespacedName: key})
	return pushResult{}, false
}

// Forget ends the pushes of a selection.
func (p *Pushes) Forget(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.jobs, key)
	delete(p.results, key)
	p.queue.Forget(ctrl.Request{NamespacedName: key})
}

// Start works until the context ends. It implements manager.Runnable.
func (p *Pushes) Start(ctx context.Context) error {
	var working sync.WaitGroup
	for range p.workers {
		working.Go(func() {
			for p.Next(ctx) {
			}
		})
	}
	<-ctx.Done()
	p.queue.ShutDown()
	working.Wait()
	return nil
}

// Next does what is next in the queue, and waits for it. It returns false once the queue is shut down.
func (p *Pushes) Next(ctx context.Context) bool {
	item, end := p.queue.Get()
	if end {
		return false
	}
	defer p.queue.Done(item)
	key := item.NamespacedName
	p.mu.Lock()
	job, wanted := p.jobs[key]
	p.mu.Unlock()
	if !wanted {
		return true
	}
	url, err := p.tryPush(ctx, job)
	if ctx.Err() != nil {
		return true // this says nothing about the registry
	}
	if p.record(key, job, pushResult{url, err}) {
		p.Enqueue(ctx, key)
	}
	if err != nil {
		ctrl.LoggerFrom(ctx).Info("not pushed", "selection", job.selection, "url", job.access.URL, "reason", err.Error())
		p.queue.AddRateLimited(item)
		return true
	}
	p.queue.Forget(item)
	p.queue.AddAfter(item, jitter.JitteredIntervalDuration(job.interval))
	return true
}

// tryPush survives what a registry may make a library do, as a reconciliation does.
func (p *Pushes) tryPush(ctx context.Context, job pushJob) (url string, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			ctrl.LoggerFrom(ctx).Error(fmt.Errorf("panic: %v", panicked), "pushing", "selection", job.selection, "stack", string(debug.Stack()))
			err = errors.New("a bug in Winnow: the log of the controller has more")
		}
	}()
	return p.push(ctx, job)
}

// record keeps the result, unless something else is wanted by now, and reports whether it is news.
func (p *Pushes) record(key types.NamespacedName, job pushJob, result pushResult) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now, ok := p.jobs[key]; !ok || !reflect.DeepEqual(now, job) {
		return false
	}
	last, known := p.results[key]
	p.results[key] = result
	return !known || last.url != result.url || errorText(last.err) != errorText(result.err)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
