package controllers

import (
	"context"
	"errors"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster"
)

// waits reports whether a selection publishes what it has rendered once other selections let it.
func waits(err error) bool {
	var conflict *cluster.ConflictError
	var handover *cluster.HandoverError
	return errors.As(err, &conflict) || errors.As(err, &handover)
}

// yield takes the artifact out of the ExternalArtifact when others hold what it serves: both would have
// Flux apply theirs, in turns. Flux deletes nothing then. It is the one exception to the
// rule that what was served stays served. err says why nothing was published; the conflict replaces it
// where it says less.
func (r *CatalogSelectionReconciler) yield(ctx context.Context, a *attempt, err error) error {
	if a.selection.Status.Artifact == nil || a.selection.Status.Withheld != "" || ctx.Err() != nil {
		return err
	}
	contested := r.cluster.Contested(ctx, a.selection, a.around)
	var conflict *cluster.ConflictError
	if errors.As(contested, &conflict) {
		if failed := r.withhold(ctx, a); failed != nil {
			contested = failed
		}
	}
	if contested != nil && (err == nil || waits(err)) {
		return contested
	}
	return err
}

// withhold takes the artifact out of the ExternalArtifact, and says so in the status first.
func (r *CatalogSelectionReconciler) withhold(ctx context.Context, a *attempt) error {
	a.selection.Status.Withheld = v1alpha1.ConflictReason
	if err := r.writeStatus(ctx, a); err != nil {
		return err
	}
	return r.artifacts.Announce(ctx, a.selection)
}
