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

// settleRetry is the delay before unsettled sources are checked again.
const settleRetry = 5 * time.Second

// settleTimeout bounds the wait for sources: a source that fails for days must not delay an edit.
const settleTimeout = 10 * time.Minute

// unsettledError reports that an edit removes something while sources of the same commit may still change.
type unsettledError struct {
	message string
	after   time.Duration
}

// Reason is the reason of the condition.
func (e *unsettledError) Reason() string { return v1alpha1.SourcesUnsettledReason }

func (e *unsettledError) Error() string { return e.message }

// edits maps the UID of a selection to its spec and when that was seen first. The zero value is empty.
type edits struct {
	mu   sync.Mutex
	seen map[types.UID]edit
}

type edit struct {
	spec  v1alpha1.CatalogSelectionSpec
	since time.Time
}

// since returns when the spec of the selection was seen first, and remembers now for a new spec.
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

// settled returns an *unsettledError while sources that were edited together with the selection may still change:
// kustomize-controller applies a CatalogSelection before the sources of the same commit, and source-controller
// needs some seconds to fetch them. So the edit must be older than settleDelay, and every source, read past the
// cache, must have observed its generation and must not be reconciling.
func (r *CatalogSelectionReconciler) settled(ctx context.Context, a *attempt) error {
	now := r.now()
	age := now.Sub(r.edits.since(a.selection, now))
	if left := r.settleDelay - age; left > 0 {
		return &unsettledError{fmt.Sprintf("the edit of the spec removes applications or versions, and waits until it is %s old: "+
			"Flux may still apply sources of the same commit", r.settleDelay), left}
	}
	if age > settleTimeout {
		return nil
	}
	for _, s := range a.observed {
		if why, err := r.sources.Unsettled(ctx, s); err != nil {
			return err
		} else if why != "" {
			return &unsettledError{fmt.Sprintf("the edit of the spec removes applications or versions, and waits for the source %s %s: %s",
				s.Kind, s.Name, why), settleRetry}
		}
	}
	return nil
}
