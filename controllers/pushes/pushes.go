// Package pushes pushes rendered artifacts to registries. It must not know how an artifact is rendered, nor
// when a selection is reconciled: it enqueues a selection when the result of its push changes.
package pushes

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/fluxcd/pkg/artifact/storage"
	"github.com/fluxcd/pkg/runtime/jitter"
	"github.com/opencontainers/go-digest"
	"golang.org/x/sync/semaphore"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/registries"
)

// pushTimeout bounds a push: a registry that hangs must not block a worker.
const pushTimeout = 2 * time.Minute

// Pushes pushes rendered artifacts to registries. It has workers of its own, so that a registry that hangs
// delays no ExternalArtifact. It checks a pushed artifact again at the selection's interval, and retries
// failures with backoff.
type Pushes struct {
	registries *registries.Registries
	storage    *storage.Storage
	queue      workqueue.TypedRateLimitingInterface[ctrl.Request]
	workers    int
	// packing is held while an image is packed, which takes several times the memory of its layer: one image at a time.
	// It is not held while the image is sent, so that a registry that hangs does not block other pushes.
	packing *semaphore.Weighted
	// Enqueue adds selections to the queue of the controller. It is required.
	Enqueue func(context.Context, ...types.NamespacedName)

	mu      sync.Mutex
	jobs    map[types.NamespacedName]pushJob
	results map[types.NamespacedName]pushResult
	// revisions maps the digests of pushed manifests to the revisions of the artifact, by selection. The manifest of a
	// served image does not have its revision, and the status has only that of the last push.
	revisions map[types.NamespacedName]map[digest.Digest]string
}

// Options configures Pushes. All fields are required.
type Options struct {
	Registries *registries.Registries
	// Storage has the archives.
	Storage *storage.Storage
	// Queue has the selections to push, with the backoff of failures.
	Queue workqueue.TypedRateLimitingInterface[ctrl.Request]
	// Workers is the number of concurrent pushes.
	Workers int
}

// New returns Pushes without jobs.
func New(o Options) *Pushes {
	return &Pushes{
		registries: o.Registries, storage: o.Storage, queue: o.Queue, workers: o.Workers,
		jobs:    map[types.NamespacedName]pushJob{},
		results: map[types.NamespacedName]pushResult{},
		packing: semaphore.NewWeighted(1),

		revisions: map[types.NamespacedName]map[digest.Digest]string{},
	}
}

// pushJob describes the artifact that a registry should have, and the access to the registry.
type pushJob struct {
	uid    types.UID
	access registries.Access
	tags   []string
	// image is true if the packages of the artifact are pushed as an image, and not the artifact.
	image bool
	// file is the path of the archive, and digest that of its content.
	file, digest string
	// Annotations of the manifest: the revision of the artifact, those of the sources, and namespace/name of
	// the selection.
	revision, sources, selection string
	// compared are the revisions in the history of the artifact, whose changes the safeguards have compared.
	// The safeguards are applied to a tagged artifact of another revision, unless approved is true.
	compared []string
	// last is the digest of the last push, if its revision is one of them.
	last       digest.Digest
	safeguards v1alpha1.Safeguards
	approved   bool
	// interval is the time until the registry is checked again.
	interval time.Duration
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

// Forget ends the pushes of a selection.
func (p *Pushes) Forget(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.jobs, key)
	delete(p.results, key)
	delete(p.revisions, key)
	p.queue.Forget(ctrl.Request{NamespacedName: key})
}

// noteRevision records the revision of a manifest, before a tag names it. It drops those that are not in the history of
// the artifact any more.
func (p *Pushes) noteRevision(key types.NamespacedName, job pushJob, manifest digest.Digest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.jobs[key]; !ok {
		return
	}
	noted := map[digest.Digest]string{manifest: job.revision}
	for known, revision := range p.revisions[key] {
		if slices.Contains(job.compared, revision) {
			noted[known] = revision
		}
	}
	p.revisions[key] = noted
}

// revisionOf returns the revision of a manifest that this process has pushed for the selection, or an empty string.
func (p *Pushes) revisionOf(key types.NamespacedName, manifest digest.Digest) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.revisions[key][manifest]
}

// Start runs the workers until the context ends. It implements manager.Runnable.
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

// Next runs the next job of the queue. It returns false once the queue is shut down.
func (p *Pushes) Next(ctx context.Context) bool {
	item, end := p.queue.Get()
	if end {
		return false
	}
	defer p.queue.Done(item)
	key := item.NamespacedName
	p.mu.Lock()
	job, exists := p.jobs[key]
	p.mu.Unlock()
	if !exists {
		return true
	}
	url, err := p.tryPush(ctx, key, job)
	if ctx.Err() != nil {
		return true // the end of the context interrupted the push, not the registry
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

// tryPush returns a panic as an error: a response of a registry may make a library panic.
func (p *Pushes) tryPush(ctx context.Context, key types.NamespacedName, job pushJob) (url string, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			ctrl.LoggerFrom(ctx).Error(fmt.Errorf("panic: %v", panicked), "pushing", "selection", job.selection, "stack", string(debug.Stack()))
			err = errors.New("a bug in Winnow: see the log of the controller")
		}
	}()
	return p.push(ctx, key, job)
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
	return !known || last.url != result.url || errorText(last.err) != errorText(result.err)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
