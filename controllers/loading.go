// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"time"

	"github.com/fluxcd/pkg/runtime/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/source"
)

// loadPatience is how long a selection waits for its sources, or for a slot, before a condition reports that.
const loadPatience = 2 * time.Second

// loadSources takes a slot for the render, and returns the sources with their catalogs. It takes the slot first,
// because the loaded catalogs are dropped while an attempt waits for a slot. While the selection waits for a slot or
// for downloads, which run outside of the workers, isWaiting reports true for the error.
func (r *CatalogSelectionReconciler) loadSources(ctx context.Context, a *attempt, purpose source.Purpose, observed []source.Observed) ([]source.Loaded, error) {
	key := client.ObjectKeyFromObject(a.selection)
	err := r.slots.take(key)
	a.lacksSlot = err != nil
	var loaded []source.Loaded
	if err == nil {
		loaded, err = r.loader.Load(ctx, key, purpose, observed, a.timing)
	}
	if isWaiting(err) {
		a.waitsSince = waitsSince(err)
	}
	return loaded, err
}

// isWaiting reports whether err means that sources are being loaded, or that the selection waits for a slot.
func isWaiting(err error) bool { return !waitsSince(err).IsZero() }

// waitsSince returns when the wait began that err reports, the zero time if it reports none.
func waitsSince(err error) time.Time {
	if waiting, ok := errors.AsType[*failure.WaitingError](err); ok {
		return waiting.Since
	}
	return time.Time{}
}

// patience returns how long an attempt that waits may still end without a report, and without its other work; zero if it does
// not wait. Most downloads and renders end earlier. An attempt of a selection that is Ready, and waits for a slot, may end as long as
// silence if only the revisions of its sources have changed. It does other work at once: the next one comes with the slot, or when the
// wait is to be reported.
func (r *CatalogSelectionReconciler) patience(ctx context.Context, a *attempt) time.Duration {
	if a.waitsSince.IsZero() {
		return 0
	}
	if !a.lacksSlot || !isReady(a.selection) {
		return max(0, loadPatience-r.now().Sub(a.waitsSince))
	}
	if _, looked := r.looked.Load(client.ObjectKeyFromObject(a.selection)); looked && a.cause() == "source" && r.tellsSources(ctx, a.selection) {
		return r.silence(a)
	}
	return 0
}

// tellsSources reports whether the status tells how the sources are. One that is being reconciled does not count.
func (r *CatalogSelectionReconciler) tellsSources(ctx context.Context, cs *v1alpha1.CatalogSelection) bool {
	told, now := conditions.Get(cs, v1alpha1.SourceReadyCondition), r.sources.Readiness(ctx, cs)
	return told != nil && (now.Status == metav1.ConditionUnknown ||
		told.Status == now.Status && told.Reason == now.Reason && told.Message == now.Message)
}

// slotPatience is how long a selection that is Ready waits for a slot before a condition reports the wait. Of thousands of
// selections that get a new revision, most wait for minutes, and a report is a write more.
const slotPatience = 5 * time.Minute

// silence returns how long an attempt of a selection that is Ready may still wait before a condition reports the wait.
func (r *CatalogSelectionReconciler) silence(a *attempt) time.Duration {
	return max(0, waitRetry(a)-r.now().Sub(a.waitsSince))
}

// loadRetry is how long a selection that is Ready waits for its sources before a condition reports the wait.
const loadRetry = time.Minute

// waitRetry is the delay before an attempt that waits is repeated, unless what it waits for comes, which enqueues it. Thousands
// may wait for slots for minutes, and would take the time of those that have one.
func waitRetry(a *attempt) time.Duration {
	if a.lacksSlot {
		return slotPatience
	}
	return loadRetry
}

// loadLimiter keeps the backoff of a selection that waits for its sources or for a slot, because a wait is no success.
type loadLimiter struct {
	workqueue.TypedRateLimiter[reconcile.Request]
	loader *source.Loader
	slots  *slots
}

// Forget implements workqueue.TypedRateLimiter.
func (l loadLimiter) Forget(item reconcile.Request) {
	if !l.loader.Waits(item.NamespacedName) && !l.slots.waits(item.NamespacedName) {
		l.TypedRateLimiter.Forget(item)
	}
}
