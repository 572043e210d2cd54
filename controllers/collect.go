package controllers

import (
	"context"
	"fmt"
	"strings"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// garbageTimeout bounds a collection of stored archives.
const garbageTimeout = 10 * time.Second

// finalize deletes the ExternalArtifact, if it is the selection's, and all stored archives.
// The finalizer goes only after both are gone.
func (r *CatalogSelectionReconciler) finalize(ctx context.Context, cs *v1alpha1.CatalogSelection) error {
	if !controllerutil.ContainsFinalizer(cs, v1alpha1.CatalogSelectionFinalizer) {
		return nil
	}
	if err := r.deleteExternalArtifact(ctx, cs); err != nil {
		return fmt.Errorf("deleting the ExternalArtifact: %w", err)
	}
	artifact := r.Storage.NewArtifactFor(sourcev1.ExternalArtifactKind, cs, "", "*")
	if _, err := r.Storage.RemoveAll(artifact); err != nil {
		return fmt.Errorf("removing stored archives: %w", err)
	}
	r.forget(ctx, cs)
	before := cs.DeepCopy()
	controllerutil.RemoveFinalizer(cs, v1alpha1.CatalogSelectionFinalizer)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Patch(ctx, cs, patch, client.FieldOwner(r.ControllerName)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the finalizer: %w", err)
	}
	return nil
}

func (r *CatalogSelectionReconciler) deleteExternalArtifact(ctx context.Context, cs *v1alpha1.CatalogSelection) error {
	existing := &sourcev1.ExternalArtifact{}
	if err := r.Get(ctx, client.ObjectKeyFromObject(cs), existing); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !metav1.IsControlledBy(existing, cs) {
		return nil
	}
	err := r.Delete(ctx, existing, client.Preconditions{UID: &existing.UID})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// collectGarbage deletes archives that are no longer served, after their time of grace. That
// it fails is no reason to fail the selection: it is tried again at the next reconciliation.
func (r *CatalogSelectionReconciler) collectGarbage(ctx context.Context, cs *v1alpha1.CatalogSelection) {
	if !r.Storage.ArtifactExist(*cs.Status.Artifact) {
		return
	}
	deleted, err := r.Storage.GarbageCollect(ctx, *cs.Status.Artifact, garbageTimeout)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "collecting stored archives")
		return
	}
	if len(deleted) > 0 {
		r.Eventf(cs, corev1.EventTypeNormal, v1alpha1.GarbageCollectedReason, "deleted %d stored archives", len(deleted))
		ctrl.LoggerFrom(ctx).Info("deleted stored archives", "files", strings.Join(deleted, ", "))
	}
}

// forget drops all that is remembered of a selection that is deleted.
func (r *CatalogSelectionReconciler) forget(ctx context.Context, cs *v1alpha1.CatalogSelection) {
	key := client.ObjectKeyFromObject(cs)
	r.Pushes.forget(key)
	r.published.Delete(key)
	r.edits.forget(cs.UID)
	r.Cluster.Forget(ctx, cs)
}
