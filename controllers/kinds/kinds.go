// SPDX-License-Identifier: Apache-2.0

// Package kinds watches kinds that come and go with their CRDs, and that the controller may not be
// allowed to read. It returns a reader for each kind, and enqueues the selections that a change concerns. It
// must not know what the objects of a kind mean, nor what their readers do with them.
package kinds

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kinds watches optional kinds: definitions, and Flux's Kustomizations. Each kind has a cache of its own, which
// ends when its CRD is deleted or the controller may no longer read it.
type Kinds struct {
	ctx     context.Context //nolint:containedctx // bounds the caches, which outlive a reconciliation
	config  *rest.Config
	options cache.Options
	reader  client.Reader

	// Enqueue adds selections to the queue. It is set before the first Look.
	Enqueue func(context.Context, ...types.NamespacedName)

	mu      sync.Mutex
	watches map[schema.GroupVersionKind]*watch
}

// New returns Kinds without watches. The watches end with the context. The options have the scheme, the mapper
// and the namespaces; reader reads from the API server. The configuration is not modified.
func New(ctx context.Context, config *rest.Config, options cache.Options, reader client.Reader) *Kinds {
	return &Kinds{
		ctx: ctx, config: config, options: options, reader: reader,
		watches: map[schema.GroupVersionKind]*watch{},
	}
}

// Errors of a kind that is not watched. Start tries it again with backoff.
var (
	ErrAbsent    = errors.New("the API server does not serve the kind")
	ErrForbidden = errors.New("reading the kind is forbidden")
)

// syncTimeout bounds the wait for the first list of a cache.
const syncTimeout = 30 * time.Second

// Reader reads the cache of a kind.
type Reader struct {
	client.Reader

	index client.IndexerFunc

	mu     sync.Mutex
	stores []toolscache.Indexer // one for each namespace of the options
}

// Find returns the objects of the cache that have the value in what Kind.Index returns, in no order. They are not copied and must not be
// modified.
func (r *Reader) Find(value string) iter.Seq[any] {
	return func(yield func(any) bool) {
		r.mu.Lock()
		stores := r.stores
		r.mu.Unlock()
		for _, store := range stores {
			objects, _ := store.ByIndex(index, value) // fails only without the index
			for _, object := range objects {
				if !yield(object) {
					return
				}
			}
		}
	}
}

// index is the name of the index that Kind.Index fills.
const index = "winnow"

// newInformer is toolscache.NewSharedIndexInformer, whose store the reader gets.
func (r *Reader) newInformer(lw toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	indexers[index] = func(object any) ([]string, error) {
		if o, ok := object.(client.Object); ok && r.index != nil {
			return r.index(o), nil
		}
		return nil, nil
	}
	informer := toolscache.NewSharedIndexInformer(lw, object, resync, indexers)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stores = append(r.stores, informer.GetIndexer())
	return informer
}

// Kind describes the watch of a kind.
type Kind struct {
	GVK schema.GroupVersionKind
	// Object is an empty object of the kind, or of its metadata.
	Object client.Object
	// Trim removes unused fields of an object before it is cached. It may be nil.
	Trim func(client.Object)
	// Index maps an object to the values with which Reader.Find finds it. It may be nil.
	Index client.IndexerFunc
	// Concerned returns the selections that a change concerns; older is nil for a new object, newer for a
	// deleted one.
	Concerned func(ctx context.Context, older, newer client.Object) []types.NamespacedName
}

// watch is the watch of a kind with an subscriber, also while it cannot be opened.
type watch struct {
	Kind

	mu          sync.Mutex
	reader      *Reader // nil while the kind is not watched
	err         error   // the reason why it is not watched
	cancel      context.CancelFunc
	subscribers map[types.NamespacedName]struct{}
	// ended is true once no subscriber is left. A new subscriber gets a new watch.
	ended bool
	// delay is the time before the next attempt to open the watch, which is due at due.
	delay time.Duration
	due   time.Time
}

// Serves reports whether the API server serves a kind.
func (k *Kinds) Serves(gvk schema.GroupVersionKind) (bool, error) {
	_, err := k.options.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if apimeta.IsNoMatchError(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking for the kind %s: %w", gvk.GroupKind(), err)
	}
	return true, nil
}

// Look returns a reader of the kind's cache, and starts the cache if necessary. subscriber is enqueued when the kind
// comes or goes, until it calls Keep without the kind. The error wraps ErrAbsent or ErrForbidden if that is the
// cause. With fresh, for a decision that needs the present state, Look tries a kind that was absent or forbidden again at once.
func (k *Kinds) Look(ctx context.Context, kind Kind, subscriber types.NamespacedName, fresh bool) (*Reader, error) {
	w := k.subscribe(kind, subscriber)
	defer w.mu.Unlock()
	if w.reader == nil && (fresh || !Settled(w.err)) {
		k.open(ctx, w)
	}
	return w.reader, w.err
}

// subscribe adds a subscriber to the watch of a kind, and returns the watch locked.
func (k *Kinds) subscribe(kind Kind, subscriber types.NamespacedName) *watch {
	for {
		k.mu.Lock()
		w, known := k.watches[kind.GVK]
		if !known {
			w = &watch{Kind: kind, subscribers: map[types.NamespacedName]struct{}{}}
			k.watches[kind.GVK] = w
		}
		k.mu.Unlock()
		w.mu.Lock()
		if !w.ended {
			w.subscribers[subscriber] = struct{}{}
			return w
		}
		w.mu.Unlock()
		k.remove(w)
	}
}

// remove deletes an ended watch from the map.
func (k *Kinds) remove(w *watch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.watches[w.GVK] == w {
		delete(k.watches, w.GVK)
	}
}

// Settled reports whether an immediate retry is of no use: the kind is absent or forbidden. No error is not settled.
func Settled(err error) bool {
	return errors.Is(err, ErrAbsent) || errors.Is(err, ErrForbidden)
}

// all returns all watches. A lock of a watch may be held for as long as it takes to open it.
func (k *Kinds) all() []*watch {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Collect(maps.Values(k.watches))
}

// Readers maps the kinds that are watched now to their readers.
func (k *Kinds) Readers() map[schema.GroupVersionKind]client.Reader {
	readers := map[schema.GroupVersionKind]client.Reader{}
	for _, w := range k.all() {
		w.mu.Lock()
		if w.reader != nil {
			readers[w.GVK] = w.reader
		}
		w.mu.Unlock()
	}
	return readers
}

// names returns the subscribers. The caller holds the lock.
func (w *watch) names() []types.NamespacedName {
	return slices.Collect(maps.Keys(w.subscribers))
}

// open starts the cache of a kind and reports whether it runs. The caller holds the lock.
func (k *Kinds) open(ctx context.Context, w *watch) bool {
	if w.err = k.probe(ctx, w.GVK); w.err != nil {
		return false
	}
	watchCtx, cancel := context.WithCancel(k.ctx)
	opened, err := k.start(watchCtx, w) //nolint:contextcheck // the cache outlives the reconciliation that opens it
	if err != nil {
		cancel()
		w.err = fmt.Errorf("watching %s: %w", w.GVK, err)
		return false
	}
	w.reader, w.cancel = opened, cancel
	w.delay, w.due = 0, time.Time{}
	return true
}

// probe reads one object, because a cache would retry a failure without end, and log each one.
func (k *Kinds) probe(ctx context.Context, gvk schema.GroupVersionKind) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	options := []client.ListOption{client.Limit(1)}
	for namespace := range k.options.DefaultNamespaces {
		options = append(options, client.InNamespace(namespace))
	}
	return kindError(gvk, k.reader.List(ctx, list, options...))
}

// kindError classifies an error: ErrAbsent for a missing kind, ErrForbidden for a kind that the controller may
// not read.
func kindError(gvk schema.GroupVersionKind, err error) error {
	switch {
	case err == nil:
		return nil
	case apimeta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return fmt.Errorf("%s: %w", gvk.GroupKind(), ErrAbsent)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s: %w", gvk.GroupKind(), ErrForbidden)
	}
	return fmt.Errorf("reading %s: %w", gvk.GroupKind(), err)
}

// start returns a cache of the kind that has synced and runs until the context ends.
func (k *Kinds) start(ctx context.Context, w *watch) (*Reader, error) {
	reader, options := &Reader{index: w.Index}, k.options
	options.NewInformer = reader.newInformer
	options.DefaultTransform = func(object any) (any, error) {
		if o, ok := object.(client.Object); ok && w.Trim != nil {
			w.Trim(o)
		}
		return object, nil
	}
	options.DefaultWatchErrorHandler = func(reflecting context.Context, r *toolscache.Reflector, err error) {
		if gone := kindError(w.GVK, err); Settled(gone) {
			go k.lose(ctx, w, gone)
			return
		}
		toolscache.DefaultWatchErrorHandler(reflecting, r, err)
	}
	opened, err := cache.New(k.config, options)
	if err != nil {
		return nil, err
	}
	informer, err := opened.GetInformer(ctx, w.Object, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, err
	}
	if _, err := informer.AddEventHandler(k.handler(ctx, w)); err != nil {
		return nil, err
	}
	go func() {
		if err := opened.Start(ctx); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "watching", "kind", w.GVK)
		}
	}()
	select {
	case <-informer.HasSyncedChecker().Done(): // WaitForCacheSync polls only every 100 ms
		reader.Reader = opened
		return reader, nil
	case <-time.After(syncTimeout):
		return nil, errors.New("the cache did not sync in time")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// handler enqueues the selections that a change concerns. It ignores the initial list, because the selection
// that starts the watch reads the objects itself.
func (k *Kinds) handler(ctx context.Context, w *watch) toolscache.ResourceEventHandler {
	changed := func(older, newer client.Object) { k.Enqueue(ctx, w.Concerned(ctx, older, newer)...) }
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, isInInitialList bool) {
			if !isInInitialList {
				changed(nil, object.(client.Object))
			}
		},
		UpdateFunc: func(older, newer any) { changed(older.(client.Object), newer.(client.Object)) },
		DeleteFunc: func(object any) {
			if unknown, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
				object = unknown.Obj
			}
			if o, ok := object.(client.Object); ok {
				changed(o, nil)
			}
		},
	}
}

// lose ends the watch with this context, unless it has ended, because its kind is gone or may no longer be
// read.
func (k *Kinds) lose(ctx context.Context, w *watch, why error) {
	w.mu.Lock()
	lost := w.reader != nil && ctx.Err() == nil
	if lost {
		w.cancel()
		w.reader, w.err = nil, why
	}
	subscribers := w.names()
	w.mu.Unlock()
	if lost {
		ctrl.LoggerFrom(ctx).Info("watch ended", "kind", w.GVK.String(), "reason", why.Error())
		k.Enqueue(k.ctx, subscribers...) //nolint:contextcheck // the context of the watch has just ended
	}
}
