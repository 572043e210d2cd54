package controllers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

// settleRetry is how soon sources are looked at again that have not settled.
const settleRetry = 5 * time.Second

// settleTimeout bounds the wait for sources: one that fails for days must not keep an edit back.
const settleTimeout = 10 * time.Minute

// unsettledError says that an edit takes something away, and that sources may follow that were edited
// together with it.
type unsettledError struct {
	message string
	after   time.Duration
}

// Reason is the reason of the condition.
func (e *unsettledError) Reason() string { return v1alpha1.SourcesUnsettledReason }

func (e *unsettledError) Error() string { return e.message }

// edits are the edits that were seen first, by the UID of their selection. The zero value is empty.
type edits struct {
	mu   sync.Mutex
	seen map[types.UID]edit
}

type edit struct {
	spec  v1alpha1.CatalogSelectionSpec
	since time.Time
}

// since returns when the spec of a selection was seen first, now if it was not.
func (e *edits) since(cs *v1alpha1.CatalogSelection, now time.Time) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	spec := guard.RenderedSpec(cs)
	if last, ok := e.seen[cs.UID]; ok && equality.Semantic.DeepEqual(last.spec, spec) {
		return last.since
	}
	if e.seen == nil {
		e.seen = map[types.UID]edit{}
	}
	e.seen[cs.UID] = edit{spec, now}
	return now
}

func (e *edits) forget(uid types.UID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.seen, uid)
}

// settled returns an *unsettledError while an edit that takes something away may still be on its way:
// kustomize-controller applies a CatalogSelection before the sources of the same commit, and
// source-controller needs seconds more. So every source, read past the cache, has to have observed its
// generation and must not be reconciling, and the edit has to be as old as settleDelay.
func (r *CatalogSelectionReconciler) settled(ctx context.Context, a *attempt) error {
	now := r.cluster.Now()
	age := now.Sub(r.edits.since(a.selection, now))
	if left := r.settleDelay - age; left > 0 {
		return &unsettledError{fmt.Sprintf("the edit of the spec takes something away, and is published %s after it was seen first, "+
			"so that sources that were edited with it are not missed", r.settleDelay), left}
	}
	if age > settleTimeout {
		return nil
	}
	for _, s := range a.observed {
		if why, err := r.sources.Unsettled(ctx, s); err != nil {
			return err
		} else if why != "" {
			return &unsettledError{fmt.Sprintf("the edit of the spec takes something away, and waits for source %s %s, which %s",
				s.Kind, s.Name, why), settleRetry}
		}
	}
	return nil
}
