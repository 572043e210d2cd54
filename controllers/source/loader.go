// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/metrics"
	"github.com/winnow-dev/winnow/controllers/transfers"
)

// DefaultLoadTimeout is the Loader.Timeout of the controller.
const DefaultLoadTimeout = 10 * time.Minute

// Loader loads the sources of selections outside of the workers that reconcile them, and enqueues a selection when its
// sources are loaded. The turn of a load belongs to the namespace of the selection, which asks for it: a tenant that
// selects from a source of another namespace takes no turns of that. All fields are required.
type Loader struct {
	Sources *Sources
	Queue   *transfers.Queue
	// Enqueue adds a selection to the queue of the controller.
	Enqueue func(context.Context, ...types.NamespacedName)
	Now     func() time.Time
	// Timeout bounds the load of all sources of a selection.
	Timeout time.Duration

	mu    sync.Mutex
	loads map[types.NamespacedName]map[Purpose]*pendingLoad
}

// Purpose distinguishes the loads of one selection.
type Purpose string

// The loads of a selection.
const (
	// ForRender loads the sources of its spec.
	ForRender Purpose = "render"
	// ForRebuild loads the sources of the last publication.
	ForRebuild Purpose = "rebuild"
)

// pendingLoad is a load that was not taken yet.
type pendingLoad struct {
	observed []Observed
	since    time.Time
	transfer *transfers.Transfer

	// The mutex of the loader guards the fields below.
	done   bool
	loaded []Loaded
	err    error
	took   time.Duration
	// doing is what the load does now.
	doing string
}

// Load returns the sources with their catalogs, from the cache or from a load that has ended, and sets the locations in
// observed. It starts a load otherwise, in place of one for other inputs, and returns a *failure.WaitingError. It adds to timing how
// long the load took that has ended.
func (l *Loader) Load(ctx context.Context, selection types.NamespacedName, purpose Purpose, observed []Observed, timing *metrics.Timing) ([]Loaded, error) {
	loaded, ok, err := l.take(selection, purpose, observed, timing)
	if !ok {
		if loaded, ok, err = l.Sources.Cached(observed); ok || err != nil {
			l.end(selection, purpose)
		}
	}
	if !ok && err == nil {
		return nil, l.wait(ctx, selection, purpose, observed)
	}
	for i := range loaded {
		observed[i] = loaded[i].Observed
	}
	return loaded, err
}

// sameContent reports whether both have the same catalog, by the same settings. What else a source reports, such as when
// Flux looked at it last, does not matter.
func (s Observed) sameContent(other Observed) bool {
	if s.settings() != other.settings() || s.repository != nil &&
		!equality.Semantic.DeepEqual(s.repository.Status.ObservedLayerSelector, other.repository.Status.ObservedLayerSelector) {
		return false
	}
	s.repository, other.repository = nil, nil
	return reflect.DeepEqual(s, other)
}

// Waits reports whether a selection waits for a load, or has not taken the result of one.
func (l *Loader) Waits(selection types.NamespacedName) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.loads[selection]) > 0
}

// Forget ends the loads of a selection that does not wait for them.
func (l *Loader) Forget(selection types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, load := range l.loads[selection] {
		load.transfer.Close()
	}
	delete(l.loads, selection)
}

// take removes a load that has ended and returns its result, if it is one of these inputs.
func (l *Loader) take(selection types.NamespacedName, purpose Purpose, observed []Observed, timing *metrics.Timing) ([]Loaded, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	load := l.loads[selection][purpose]
	if load == nil || !load.done || !slices.EqualFunc(load.observed, observed, Observed.sameContent) {
		return nil, false, nil
	}
	l.drop(selection, purpose)
	timing.Add(metrics.Load, load.took)
	return load.loaded, true, load.err
}

func (l *Loader) end(selection types.NamespacedName, purpose Purpose) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(selection, purpose)
}

// drop ends a load. The caller has locked the mutex.
func (l *Loader) drop(selection types.NamespacedName, purpose Purpose) {
	load := l.loads[selection][purpose]
	if load == nil {
		return
	}
	load.transfer.Close()
	if delete(l.loads[selection], purpose); len(l.loads[selection]) == 0 {
		delete(l.loads, selection)
	}
}

// wait returns a *failure.WaitingError of the load for these inputs.
func (l *Loader) wait(ctx context.Context, selection types.NamespacedName, purpose Purpose, observed []Observed) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	load := l.loads[selection][purpose]
	if load == nil || !slices.EqualFunc(load.observed, observed, Observed.sameContent) {
		l.drop(selection, purpose)
		load = l.start(ctx, selection, observed)
		if l.loads == nil {
			l.loads = map[types.NamespacedName]map[Purpose]*pendingLoad{}
		}
		if l.loads[selection] == nil {
			l.loads[selection] = map[Purpose]*pendingLoad{}
		}
		l.loads[selection][purpose] = load
	}
	return &failure.WaitingError{Since: load.since, Message: cmp.Or(load.transfer.Waits("downloads"), load.doing)}
}

func (l *Loader) start(ctx context.Context, selection types.NamespacedName, observed []Observed) *pendingLoad {
	load := &pendingLoad{observed: append([]Observed(nil), observed...), since: l.Now(), doing: "loading the sources"}
	inputs := append([]Observed(nil), observed...)
	logged := context.WithoutCancel(ctx) // for its logger
	load.transfer = l.Queue.Hold(selection.Namespace, func(ctx context.Context) {
		l.run(transfers.WithValuesOf(ctx, logged), load, inputs)
		if ctx.Err() == nil {
			l.Enqueue(ctx, selection)
		}
	})
	return load
}

func (l *Loader) run(ctx context.Context, load *pendingLoad, inputs []Observed) {
	bounded, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	start := l.Now()
	var loaded []Loaded
	err := transfers.Recover(ctx, "loading the sources", func() (err error) {
		loaded, err = l.Sources.load(bounded, inputs, func(o Observed) {
			l.mu.Lock()
			defer l.mu.Unlock()
			load.doing = fmt.Sprintf("downloading source %s %s from %s", o.Kind, o.Name, o.host())
		})
		return err
	})
	if bounded.Err() != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = failure.Override(v1alpha1.TimedOutReason, fmt.Errorf("loading the sources took longer than %s, and is tried again with backoff: %w; "+
			"if that goes on, use a smaller catalog or only a part of it (spec.sources[].path)", l.Timeout, err))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	load.done, load.loaded, load.err, load.took = true, loaded, err, l.Now().Sub(start)
}
