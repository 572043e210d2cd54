// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/departures"
	"github.com/winnow-dev/winnow/controllers/cluster/holders"
)

// waits reports whether err is resolved as soon as other selections release the objects of the render.
func waits(err error) bool {
	var conflict *holders.ConflictError
	var handover *departures.HandoverError
	return errors.As(err, &conflict) || errors.As(err, &handover)
}

// yield removes the artifact from the ExternalArtifact if another selection holds an object in it, because Flux
// would apply both versions in turns. Flux prunes nothing on a source without an artifact. This is the only
// exception to the rule that a served artifact stays served. err is why nothing was published, or nil; yield
// returns the conflict instead if err is nil or only waits for other selections.
func (r *CatalogSelectionReconciler) yield(ctx context.Context, a *attempt, err error) error {
	if a.isOld() || a.selection.Status.Artifact == nil || a.selection.Status.Withheld != "" || ctx.Err() != nil {
		return err
	}
	contested := r.contested(ctx, a, err)
	if _, ok := errors.AsType[*holders.ConflictError](contested); ok {
		if failed := r.withhold(ctx, a); failed != nil {
			contested = failed
		}
	}
	if contested != nil && (err == nil || waits(err)) {
		return contested
	}
	return err
}

// contested returns a *holders.ConflictError if other owners have objects that the selection serves: live ones, or ones that it has
// given up and that another selection has taken.
func (r *CatalogSelectionReconciler) contested(ctx context.Context, a *attempt, err error) error {
	if !a.live.Consumers.ActHere() {
		return nil
	}
	if conflict, ok := errors.AsType[*holders.ConflictError](err); ok && conflict.Has(a.live.Served) {
		return conflict
	}
	return r.cluster.Holders.Contested(ctx, a.selection, a.position)
}

// withhold records the conflict in the status, and then removes the artifact from the ExternalArtifact.
func (r *CatalogSelectionReconciler) withhold(ctx context.Context, a *attempt) error {
	a.selection.Status.Withheld = v1alpha1.ConflictReason
	if claim := a.selection.Status.Claim; claim != nil {
		holders.Withhold(claim)
	}
	if err := r.writeStatus(ctx, a); err != nil {
		return err
	}
	return r.artifacts.Announce(ctx, a.selection)
}
