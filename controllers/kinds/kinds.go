// Package kinds watches kinds that come and go with their CRDs, and that the controller may not be
// allowed to read. It must not know what the objects of a kind mean, nor who asks for them: it gives
// readers to those who ask for a kind, and enqueues the selections that a change concerns.
package kinds

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kinds watches kinds that come and go with their CRDs, and that the controller may not be
// allowed to read: definitions, and Flux's Kustomizations. Each kind has a cache of its own,
// which ends when its CRD does.
type Kinds struct {
	ctx     context.Context //nolint:containedctx // bounds the caches, which outlive a reconciliation
	config  *rest.Config
	options cache.Options
	reader  client.Reader

	// Enqueue puts the selections into the queue that a change concerns. It is set before the first Look.
	Enqueue func(context.Context, ...types.NamespacedName)

	mu      sync.Mutex
	watches map[schema.GroupVersionKind]*watch
}

// New returns no watches yet. They end with the context. The options have the scheme, the
// mapper and the namespaces; reader reads past caches. The configuration is not modified.
func New(ctx context.Context, config *rest.Config, options cache.Options, reader client.Reader) *Kinds {
	return &Kinds{
		ctx: ctx, config: config, options: options, reader: reader,
		watches: map[schema.GroupVersionKind]*watch{},
	}
}

// Errors of a kind that is not watched. What was tried is tried again with backoff.
var (
	ErrAbsent    = errors.New("the API server does not serve the kind")
	ErrForbidden = errors.New("reading the kind is forbidden")
)

// syncTimeout bounds the wait for a cache that starts.
const syncTimeout = 30 * time.Second

// Kind says how a kind is watched.
type Kind struct {
	GVK schema.GroupVersionKind
	// Object is an empty one of the kind, or of its metadata.
	Object client.Object
	// Trim takes out of an object what is not needed, before it is cached. It may be nil.
	Trim func(client.Object)
	// Index names the objects for client.MatchingFields{Index: name}; nil for none.
	Index client.IndexerFunc
	// Concerned returns the selections that a change concerns; older is nil for a new object,
	// newer for one that is gone.
	Concerned func(ctx context.Context, older, newer client.Object) []types.NamespacedName
}

// Index is the field of client.MatchingFields that Kind.Index fills.
const Index = ".index"

// watch is a kind that was asked for.
type watch struct {
	Kind

	mu     sync.Mutex
	reader client.Reader // nil while the kind is not watched
	err    error         // why it is not
	cancel context.CancelFunc
	askers map[types.NamespacedName]struct{}
	// ended says that no asker is left. A new asker gets another watch.
	ended bool
	// delay before the watch is tried again, and when that is.
	delay time.Duration
	due   time.Time
}

// Probe is Look for a decision that must not rest on what was true a while ago: a kind that was absent
// or forbidden is tried again at once.
func (k *Kinds) Probe(ctx context.Context, kind Kind, asker types.NamespacedName) (client.Reader, error) {
	w := k.ask(kind, asker)
	defer w.mu.Unlock()
	if w.reader == nil {
		k.open(ctx, w)
	}
	return w.reader, w.err
}

// Look returns a reader of the kind's cache, and starts the cache if need be. asker is enqueued when
// the kind comes or goes, until it does not Keep the kind. The error wraps ErrAbsent or ErrForbidden
// where that is why.
func (k *Kinds) Look(ctx context.Context, kind Kind, asker types.NamespacedName) (client.Reader, error) {
	w := k.ask(kind, asker)
	defer w.mu.Unlock()
	if w.reader == nil && (w.err == nil || !Settled(w.err)) {
		k.open(ctx, w)
	}
	return w.reader, w.err
}

// ask returns the watch of a kind, whose lock the caller releases, with one more asker.
func (k *Kinds) ask(kind Kind, asker types.NamespacedName) *watch {
	for {
		k.mu.Lock()
		w, known := k.watches[kind.GVK]
		if !known {
			w = &watch{Kind: kind, askers: map[types.NamespacedName]struct{}{}}
			k.watches[kind.GVK] = w
		}
		k.mu.Unlock()
		w.mu.Lock()
		if !w.ended {
			w.askers[asker] = struct{}{}
			return w
		}
		w.mu.Unlock()
		k.remove(w)
	}
}

// remove takes a watch that has ended out of the map.
func (k *Kinds) remove(w *watch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.watches[w.GVK] == w {
		delete(k.watches, w.GVK)
	}
}

// Settled reports whether asking again at once is of no use: the kind is absent, or forbidden.
func Settled(err error) bool {
	return errors.Is(err, ErrAbsent) || errors.Is(err, ErrForbidden)
}

// all returns the kinds that were asked for. The lock of one may be held for as long as it takes to
// open it.
func (k *Kinds) all() []*watch {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Collect(maps.Values(k.watches))
}

// Readers returns the readers of the kinds that are watched now.
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

// names must be called with the lock held.
func (w *watch) names() []types.NamespacedName {
	names := make([]types.NamespacedName, 0, len(w.askers))
	for name := range w.askers {
		names = append(names, name)
	}
	return names
}

// open starts the cache of a kind, whose lock the caller holds, and reports whether it runs.
func (k *Kinds) open(ctx context.Context, w *watch) bool {
	if w.err = k.probe(ctx, w.GVK); w.err != nil {
		return false
	}
	watchCtx, cancel := context.WithCancel(k.ctx)
	opened, err := k.start(watchCtx, w) //nolint:contextcheck // the cache outlives the reconciliation that asks for it
	if err != nil {
		cancel()
		w.err = fmt.Errorf("watching %s: %w", w.GVK, err)
		return false
	}
	w.reader, w.cancel = opened, cancel
	w.delay, w.due = 0, time.Time{}
	return true
}

// probe reads one object, because a cache would retry without end, and log each time.
func (k *Kinds) probe(ctx context.Context, gvk schema.GroupVersionKind) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	options := []client.ListOption{client.Limit(1)}
	for namespace := range k.options.DefaultNamespaces {
		options = append(options, client.InNamespace(namespace))
	}
	return kindError(gvk, k.reader.List(ctx, list, options...))
}

// kindError classifies an error: ErrAbsent for a kind that is not there, ErrForbidden for one that the
// controller may not read.
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

// start returns a cache of the kind that runs until the context ends, and has synced.
func (k *Kinds) start(ctx context.Context, w *watch) (client.Reader, error) {
	options := k.options
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
	if w.Index != nil {
		if err := opened.IndexField(ctx, w.Object, Index, w.Index); err != nil {
			return nil, err
		}
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
	case <-informer.HasSyncedChecker().Done(): // WaitForCacheSync looks only every 100 ms
		return opened, nil
	case <-time.After(syncTimeout):
		return nil, errors.New("the cache did not sync in time")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
