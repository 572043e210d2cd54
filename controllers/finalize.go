// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fluxcd/pkg/runtime/logger"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// removeFinalizer removes the finalizer of earlier versions, which would keep a selection until a controller runs.
func (r *CatalogSelectionReconciler) removeFinalizer(ctx context.Context, cs *v1alpha1.CatalogSelection) error {
	before := cs.DeepCopy()
	if !controllerutil.RemoveFinalizer(cs, v1alpha1.CatalogSelectionFinalizer) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Patch(ctx, cs, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the finalizer: %w", err)
	}
	return nil
}

// finalize deletes what belongs to a selection that is being deleted, and still there because of a finalizer of
// another client, or of an earlier version. A selection without finalizers is gone at once: see removeOwned.
func (r *CatalogSelectionReconciler) finalize(ctx context.Context, cs *v1alpha1.CatalogSelection) error {
	if err := r.artifacts.Delete(ctx, cs); err != nil {
		return fmt.Errorf("deleting the ExternalArtifact: %w", err)
	}
	if err := r.artifacts.RemoveAll(cs); err != nil {
		return fmt.Errorf("removing stored archives: %w", err)
	}
	r.leave(client.ObjectKeyFromObject(cs))
	r.cluster.Kinds.Forget(client.ObjectKeyFromObject(cs))
	if err := r.removeFinalizer(ctx, cs); err != nil {
		return err
	}
	logOutcome(ctx, "deleted")
	return nil
}

// departureDelay is the interval at which a selection of another shard is checked for whether its archives may be
// removed.
const departureDelay = 30 * time.Second

// removeOwned drops the state of a selection that is not in the cache: it was deleted, or belongs to another shard now. Of
// one that was deleted, it deletes the ExternalArtifact and the archives. The archives of one that belongs to another shard
// stay until that shard serves it.
func (r *CatalogSelectionReconciler) removeOwned(ctx context.Context, key types.NamespacedName) (ctrl.Result, error) {
	r.leave(key)
	r.cluster.Kinds.Forget(key)
	r.measured.Selections.Forget(key)
	if err := r.artifacts.Collect(ctx, key); err != nil {
		return retryConflict(fmt.Errorf("deleting the ExternalArtifact of a deleted selection: %w", err))
	}
	cs := &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if !r.artifacts.HasAny(cs) {
		return ctrl.Result{}, nil
	}
	served, err := r.artifacts.Serves(ctx, key)
	if err != nil {
		return ctrl.Result{}, err
	}
	if served {
		return ctrl.Result{RequeueAfter: departureDelay}, nil
	}
	if err := r.artifacts.RemoveAll(cs); err != nil {
		return ctrl.Result{}, fmt.Errorf("removing the archives of a selection that was deleted, or is of another shard: %w", err)
	}
	logOutcome(ctx, "departed")
	return ctrl.Result{}, nil
}

// leave drops the state in memory of a selection that is gone, by its name, besides the watches of its kinds.
func (r *CatalogSelectionReconciler) leave(key types.NamespacedName) {
	if uid, ok := r.cluster.Gone(key); ok {
		r.edits.forget(uid)
	}
	r.published.Delete(key)
	r.looked.Delete(key)
	r.artifacts.Forget(key)
	r.pushes.Forget(key) // another shard may push it from now on
	r.loader.Forget(key)
}

// collectGarbage deletes archives that are no longer served. It logs an error and does not return it: the next
// reconciliation tries again.
func (r *CatalogSelectionReconciler) collectGarbage(ctx context.Context, cs *v1alpha1.CatalogSelection) {
	deleted, err := r.artifacts.CollectGarbage(ctx, cs)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "collecting stored archives")
		return
	}
	if len(deleted) > 0 {
		ctrl.LoggerFrom(ctx).V(logger.DebugLevel).Info("deleted stored archives", "files", strings.Join(deleted, ", "))
	}
}
