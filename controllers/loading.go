package controllers

import (
	"context"
	"errors"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/winnow-dev/winnow/controllers/source"
)

const (
	// loadPatience is how long a selection waits for its sources before a condition reports that.
	loadPatience = 2 * time.Second
	// loadRetry is the delay before the condition of a selection that waits for its sources is updated.
	loadRetry = time.Minute
)

// loadSources returns the sources with their catalogs. While they are downloaded, outside of the workers, the error is
// a *source.WaitingError.
func (r *CatalogSelectionReconciler) loadSources(ctx context.Context, a *attempt, purpose source.Purpose, observed []source.Observed) ([]source.Loaded, error) {
	loaded, err := r.loader.Load(ctx, client.ObjectKeyFromObject(a.selection), purpose, observed)
	var loading *source.WaitingError
	if errors.As(err, &loading) {
		a.loading = loading
	}
	return loaded, err
}

// isLoading reports whether err means that sources are being loaded.
func isLoading(err error) bool {
	var loading *source.WaitingError
	return errors.As(err, &loading)
}

// patience returns how long an attempt may still wait for its sources without a report, zero if it does not wait for
// them: most downloads take less time than a condition is worth.
func (r *CatalogSelectionReconciler) patience(a *attempt) time.Duration {
	if a.loading == nil {
		return 0
	}
	return max(0, loadPatience-r.cluster.Now().Sub(a.loading.Since))
}

// loadLimiter keeps the backoff of a selection that waits for its sources: to wait is no success.
type loadLimiter struct {
	workqueue.TypedRateLimiter[reconcile.Request]
	loader *source.Loader
}

// Forget implements workqueue.TypedRateLimiter.
func (l loadLimiter) Forget(item reconcile.Request) {
	if !l.loader.Waits(item.NamespacedName) {
		l.TypedRateLimiter.Forget(item)
	}
}
