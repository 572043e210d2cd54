package controllers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// publishTimeout bounds what a reconciliation does to render and to publish: a catalog that is
// valid, but too much work, must not keep a worker from all other selections.
const publishTimeout = 5 * time.Minute

// publishInTime publishes before publishTimeout. That it ends says nothing about ctx, whose end
// means that the controller stops. A step that was interrupted has the reason TimedOut.
func (r *CatalogSelectionReconciler) publishInTime(ctx context.Context, before, cs *v1alpha1.CatalogSelection, served bool, this *attempt) error {
	timeout := cmp.Or(r.publishTimeout, publishTimeout)
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := r.publish(bounded, before, cs, served, this)
	if bounded.Err() == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &failure{reason: v1alpha1.TimedOutReason, err: fmt.Errorf("publishing took longer than %s, and is tried again with backoff: %w; "+
		"if that goes on, use a smaller catalog or only a part of it (spec.sources[].path), or give the controller more CPU", timeout, err)}
}
