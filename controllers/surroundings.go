package controllers

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// surroundings is what the cluster has to do with a selection.
type surroundings struct {
	consumed consumers
	// live are the metadata of all live definitions of the kinds that the selection renders.
	live   []*liveMeta
	bypass bypass
}

// surround looks at the cluster before the next definitions are published: an older selection must
// not hold any of them, and what is bypassed is marked before Flux can apply over it.
func (r *CatalogSelectionReconciler) surround(ctx context.Context, cs *v1alpha1.CatalogSelection,
	consumed consumers, next []safeguard.Definition) (surroundings, error) {
	around := surroundings{consumed: consumed}
	if err := r.contested(ctx, cs, keysOf(next), consumed); err != nil {
		return around, err
	}
	published, _ := definitionsOf(cs)
	var err error
	if around.live, err = r.liveDefinitions(ctx, cs, guard.Kinds(published, next)); err != nil {
		return around, fail(v1alpha1.StorageFailedReason, err)
	}
	either := keysOf(slices.Concat(published, next))
	if around.bypass, err = r.markBypassed(ctx, cs, around.live, either, consumed); err != nil {
		return around, fail(v1alpha1.StorageFailedReason, err)
	}
	return around, nil
}

// attend does what is due on the cluster for what is published, whether or not there was anything
// new to publish, and writes down what it found. An error is worth another try.
func (r *CatalogSelectionReconciler) attend(ctx context.Context, cs *v1alpha1.CatalogSelection) (consumers, error) {
	consumed, err := r.consumersOf(ctx, cs)
	if err != nil {
		return consumed, fmt.Errorf("looking for Kustomizations: %w", err)
	}
	cs.Status.Consumers = consumed.statuses()
	published, _ := definitionsOf(cs)
	held := keysOf(published)
	if acted, known := r.acted.Swap(cs.UID, consumed.actHere()); acted != consumed.actHere() && (known || consumed.actHere()) {
		r.wakeOthers(ctx, cs, held)
	}
	live, err := r.liveDefinitions(ctx, cs, r.kindsToAttend(cs, published))
	if err != nil {
		return consumed, err
	}
	found, err := r.markBypassed(ctx, cs, live, held, consumed)
	if err != nil {
		return consumed, err
	}
	unmanaged, err := r.markUnmanaged(ctx, cs, live, held, consumed, found.marked)
	if err != nil {
		return consumed, err
	}
	cs.Status.Bypassed = found.names[:min(len(found.names), maxBypassed)]
	if cs.Status.Summary != nil {
		cs.Status.Summary.Bypassed = count(len(found.names))
		cs.Status.Summary.Unmanaged = count(unmanaged)
	}
	return consumed, nil
}

// kindsToAttend returns the kinds of what is published, and those of what was before: the last
// definition of a kind may have left the artifact with a mark.
func (r *CatalogSelectionReconciler) kindsToAttend(cs *v1alpha1.CatalogSelection, published []safeguard.Definition) []schema.GroupVersionKind {
	gvks := guard.Kinds(published)
	for _, gvk := range r.Kinds.Asked(client.ObjectKeyFromObject(cs)) {
		if gvk != kustomizations().GVK && !slices.Contains(gvks, gvk) {
			gvks = append(gvks, gvk)
		}
	}
	return gvks
}

// forget drops all that is remembered of a selection that goes.
func (r *CatalogSelectionReconciler) forget(ctx context.Context, cs *v1alpha1.CatalogSelection) {
	held := r.holdings.of(cs)
	r.gone.Store(client.ObjectKeyFromObject(cs), cs.UID)
	r.holdings.forget(cs.UID)
	r.Pushes.forget(client.ObjectKeyFromObject(cs))
	r.acted.Delete(cs.UID)
	r.said.Range(func(key, _ any) bool {
		if key.(saying).uid == cs.UID {
			r.said.Delete(key)
		}
		return true
	})
	r.published.Delete(client.ObjectKeyFromObject(cs))
	r.Kinds.Forget(client.ObjectKeyFromObject(cs))
	r.wakeOthers(ctx, cs, held)
}
