// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"slices"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster"
)

// recordMetrics records the conditions of a selection and the duration of a reconciliation, or deletes the series of one that is
// deleted.
func (r *CatalogSelectionReconciler) recordMetrics(cs *v1alpha1.CatalogSelection, start time.Time) {
	key := client.ObjectKeyFromObject(cs)
	if !cs.DeletionTimestamp.IsZero() && !controllerutil.ContainsFinalizer(cs, v1alpha1.CatalogSelectionFinalizer) {
		r.measured.Selections.Forget(key)
		return
	}
	r.recordConditions(cs)
	r.measured.Selections.Reconciled(key, r.now().Sub(start))
}

// recordConditions records the conditions of a selection. One that is absent is Unknown if Flux's own kinds have it, and has no
// series otherwise.
func (r *CatalogSelectionReconciler) recordConditions(cs *v1alpha1.CatalogSelection) {
	key := client.ObjectKeyFromObject(cs)
	next := r.measured.Selections.Of(key)
	next.Conditions, next.Suspended = nil, cs.Spec.Suspend
	common := []string{meta.ReadyCondition, meta.ReconcilingCondition, meta.StalledCondition}
	for _, condition := range conditionTypes() {
		if known := conditions.Get(cs, condition); known != nil {
			next.Conditions = append(next.Conditions, metav1.Condition{Type: condition, Status: known.Status})
		} else if slices.Contains(common, condition) {
			next.Conditions = append(next.Conditions, metav1.Condition{Type: condition, Status: metav1.ConditionUnknown})
		}
	}
	r.measured.Selections.Set(key, next)
}

// recordInstances records the conditions outside of a reconciliation. A selection that is gone meanwhile gets no series again: its
// last reconciliation has deleted them.
func (r *CatalogSelectionReconciler) recordInstances(ctx context.Context, cs *v1alpha1.CatalogSelection) {
	r.recordConditions(cs)
	key := client.ObjectKeyFromObject(cs)
	if err := r.Get(ctx, key, &v1alpha1.CatalogSelection{}); apierrors.IsNotFound(err) {
		r.measured.Selections.Forget(key)
	}
}

// conditionTypes are the types of the conditions of CatalogSelections.
func conditionTypes() []string {
	return []string{
		meta.ReadyCondition, meta.ReconcilingCondition, meta.StalledCondition,
		v1alpha1.HeldCondition, v1alpha1.SourceReadyCondition, v1alpha1.UnmatchedCondition, v1alpha1.AppliedCondition,
		v1alpha1.PushedCondition, v1alpha1.KeptCondition, v1alpha1.InstancesReadyCondition,
	}
}

// measure records what a reconciliation has found out about the artifact of its selection.
func (r *CatalogSelectionReconciler) measure(a *attempt, o outcome) {
	cs, key := a.selection, client.ObjectKeyFromObject(a.selection)
	next := r.measured.Selections.Of(key)
	next.Held, next.Published, next.BehindSince = heldChanges(cs), publishedAt(cs), r.behindSince(a, o, next.BehindSince)
	if o.names != nil {
		next.Unmatched = new(len(o.names.unmatched))
	}
	r.measured.Selections.Set(key, next)
}

// measureSuspended is measure for a selection that is suspended.
func (r *CatalogSelectionReconciler) measureSuspended(cs *v1alpha1.CatalogSelection) {
	key := client.ObjectKeyFromObject(cs)
	next := r.measured.Selections.Of(key)
	next.Held, next.Published = heldChanges(cs), publishedAt(cs)
	r.measured.Selections.Set(key, next)
}

// measureMarks records what SyncMarks has found, unless it failed.
func (r *CatalogSelectionReconciler) measureMarks(cs *v1alpha1.CatalogSelection, marked cluster.Marked, err error) {
	if err != nil {
		return
	}
	key := client.ObjectKeyFromObject(cs)
	next := r.measured.Selections.Of(key)
	next.Bypassed, next.BypassedSince, next.Orphaned = len(marked.Bypassed), marked.BypassedSince, marked.Orphaned
	r.measured.Selections.Set(key, next)
}

func heldChanges(cs *v1alpha1.CatalogSelection) map[string]int {
	changes := map[string]int{}
	if cs.Status.Held != nil {
		for _, held := range cs.Status.Held.Reasons {
			changes[held.Reason]++
		}
	}
	return changes
}

// publishedAt returns when the served artifact was published; zero if none is served.
func publishedAt(cs *v1alpha1.CatalogSelection) time.Time {
	if cs.Status.Artifact == nil || cs.Status.Withheld != "" {
		return time.Time{}
	}
	return cs.Status.Artifact.LastUpdateTime.Time
}

// behindSince returns since when the newest sources and spec of a selection are not published; zero if they are. last is the
// result of the reconciliation before: of several revisions that were not published, the first one counts.
func (r *CatalogSelectionReconciler) behindSince(a *attempt, o outcome, last time.Time) time.Time {
	if o.err == nil {
		return time.Time{}
	}
	since := r.unpublishedSince(a)
	if since.IsZero() {
		if a.observed == nil {
			return last // the sources could not be read
		}
		return time.Time{}
	}
	if held := conditions.Get(a.selection, v1alpha1.HeldCondition); held != nil && held.Status == metav1.ConditionTrue {
		since = earlier(since, held.LastTransitionTime.Time) // which a restart does not forget
	}
	return earlier(since, last)
}

// unpublishedSince returns since when what an attempt was to publish exists; zero if it is published already, as far as that is
// known.
func (r *CatalogSelectionReconciler) unpublishedSince(a *attempt) (since time.Time) {
	cs := a.selection
	if cs.Status.Artifact == nil {
		return cs.CreationTimestamp.Time
	}
	if a.record != nil && !a.record.IsOf(cs) {
		since = r.edits.since(cs, r.now())
	}
	for i, observed := range a.observed {
		if i >= len(cs.Status.Sources) || cs.Status.Sources[i] != observed.Status() {
			since = earlier(since, observed.Artifact.LastUpdateTime.Time)
		}
	}
	return since
}

// earlier returns the earlier one of two times. A zero time does not count.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
