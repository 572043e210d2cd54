// SPDX-License-Identifier: Apache-2.0

package marks

import (
	"context"
	"errors"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/holders"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// EndMoves removes the marks of finished moves: the owner labels name the Kustomization of the receiver, which
// has applied its revision, and no other inventory has the object, whose Kustomization would delete it. It
// reports whether there is a mark of an unfinished move.
func (m *Marks) EndMoves(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State) (unfinished bool, err error) {
	arrived := map[safeguard.Key]*guard.Live{}
	for _, object := range state.Own {
		if key := guard.LiveKey(object); guard.Owns(object, guard.PruneAnnotation) && state.Consumers.Include(guard.OwnerOf(object)) && state.Served[key] {
			arrived[key] = object
		}
	}
	if len(arrived) == 0 || !state.Consumers.AppliedHere() {
		return len(arrived) > 0, nil
	}
	unsettled, err := m.unsettledMoves(ctx, arrived)
	if err != nil {
		return true, err
	}
	var errs []error
	for key, object := range arrived {
		if unsettled[key] {
			unfinished = true
			continue
		}
		_, err := m.Mark(ctx, cs, object, func(s *Set) { s.Kept = false })
		errs = append(errs, err)
	}
	return unfinished, errors.Join(errs...)
}

// unsettledMoves returns the objects in the inventory of a Kustomization that is not in their owner labels,
// which would delete them; and the objects that their owner has not applied since they were marked: it may be
// applying an artifact without them.
func (m *Marks) unsettledMoves(ctx context.Context, objects map[safeguard.Key]*guard.Live) (inventory.Keys, error) {
	found := inventory.Keys{}
	err := m.Holders.Kustomizations.Each(ctx, func(ks *kustomizev1.Kustomization) {
		name, applied := client.ObjectKeyFromObject(ks), inventory.Of(ks)
		for key, object := range objects {
			if owner := guard.OwnerOf(object); owner != name && applied[key] ||
				owner == name && !appliedSince(ks, markedAt(object), m.Holders.View.Now()) {
				found[key] = true
			}
		}
	})
	return found, err
}

// appliedSince reports whether the last apply of a Kustomization came after a time. Times in the API are
// whole seconds: a revision that is new since then may be of the same second, an older one may not. A
// kustomize-controller without a history gets holders.Patience.
func appliedSince(ks *kustomizev1.Kustomization, at, now time.Time) bool {
	last := ks.Status.History.Latest()
	if last == nil {
		return now.Sub(at) > holders.Patience
	}
	return last.LastReconciledStatus == meta.ReconciliationSucceededReason &&
		(!last.FirstReconciled.Before(&metav1.Time{Time: at}) || last.LastReconciled.After(at))
}

// markedAt returns when the marks of a definition were last set.
func markedAt(object *guard.Live) (at time.Time) {
	for _, f := range object.ManagedFields {
		if f.Manager == guard.MarksOwner && f.Time != nil && f.Time.After(at) {
			at = f.Time.Time
		}
	}
	return at
}
