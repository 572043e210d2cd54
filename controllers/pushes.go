package controllers

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"sync"
	"time"

	"github.com/fluxcd/pkg/runtime/jitter"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// pushTimeout bounds a push: a registry that hangs must not keep a worker.
const pushTimeout = 2 * time.Minute

// Pushes puts rendered artifacts into registries. It has workers of its own, so that a registry that
// hangs holds back no ExternalArtifact. What was pushed is looked at again at the selection's interval,
// and what failed is tried again with backoff.
type Pushes struct {
	registries *Registries
	queue      workqueue.TypedRateLimitingInterface[ctrl.Request]
	workers    int
	// wake says that there is news of a selection.
	wake func(context.Context, ...types.NamespacedName)

	mu      sync.Mutex
	jobs    map[types.NamespacedName]pushJob
	results map[types.NamespacedName]pushResult
}

// NewPushes returns pushes that are made by so many workers.
func NewPushes(registries *Registries, limiter workqueue.TypedRateLimiter[ctrl.Request], workers int) *Pushes {
	return &Pushes{
		registries: registries, workers: workers,
		queue:   workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[ctrl.Request]{Name: "push"}),
		jobs:    map[types.NamespacedName]pushJob{},
		results: map[types.NamespacedName]pushResult{},
	}
}

// pushJob is what is to be in a registry, and how that is reached.
type pushJob struct {
	uid    types.UID
	access access
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

// forget ends the pushes of a selection.
func (p *Pushes) forget(key types.NamespacedName) {
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
			for p.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	p.queue.ShutDown()
	working.Wait()
	return nil
}

// next does what is next in the queue. It returns false when there is nothing more to come.
func (p *Pushes) next(ctx context.Context) bool {
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
		p.wake(ctx, key)
	}
	if err != nil {
		ctrl.LoggerFrom(ctx).Info("not pushed", "selection", job.selection, "url", job.access.url, "reason", err.Error())
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
