package controllers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
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
// generation and must not be reconciling, and the edit has to be as old as SettleDelay.
func (r *CatalogSelectionReconciler) settled(ctx context.Context, cs *v1alpha1.CatalogSelection, observed []observedSource) error {
	now := r.Cluster.Now()
	age := now.Sub(r.edits.since(cs, now))
	if left := r.SettleDelay - age; left > 0 {
		return &unsettledError{fmt.Sprintf("the edit of the spec takes something away, and is published %s after it was seen first, "+
			"so that sources that were edited with it are not missed", r.SettleDelay), left}
	}
	if age > settleTimeout {
		return nil
	}
	for _, s := range observed {
		if why, err := r.unsettled(ctx, s); err != nil {
			return err
		} else if why != "" {
			return &unsettledError{fmt.Sprintf("the edit of the spec takes something away, and waits for source %s %s, which %s",
				s.kind, s.name, why), settleRetry}
		}
	}
	return nil
}

// unsettled says what is on its way in a source, or nothing.
func (r *CatalogSelectionReconciler) unsettled(ctx context.Context, s observedSource) (string, error) {
	source := sourceKinds()[s.kind]
	if err := r.APIReader.Get(ctx, s.name, source); err != nil {
		return "", fail(v1alpha1.StorageFailedReason, fmt.Errorf("reading source %s %s: %w", s.kind, s.name, err))
	}
	observed, suspended := progress(source)
	artifact := source.GetArtifact()
	switch {
	case suspended:
	case source.GetGeneration() != observed:
		return "Flux has not observed yet", nil
	case conditions.IsTrue(source, meta.ReconcilingCondition):
		return "is reconciling", nil
	case artifact == nil || artifact.Revision != s.artifact.Revision || artifact.Digest != s.artifact.Digest:
		return "has another revision by now", nil
	}
	return "", nil
}

// progress returns the generation of a source that Flux has observed, and whether the source is
// suspended, so that Flux observes none. An ExternalArtifact has neither field.
func progress(source fluxSource) (observed int64, suspended bool) {
	switch s := source.(type) {
	case *sourcev1.OCIRepository:
		return s.Status.ObservedGeneration, s.Spec.Suspend
	case *sourcev1.GitRepository:
		return s.Status.ObservedGeneration, s.Spec.Suspend
	case *sourcev1.Bucket:
		return s.Status.ObservedGeneration, s.Spec.Suspend
	}
	return source.GetGeneration(), false
}
