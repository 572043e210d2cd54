package controllers

import (
	"context"
	"fmt"
	"sync"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// holdings remembers, by the UID of a selection, the definitions in its artifact, so that the
// records of all selections need not be unpacked each time. The zero value is empty.
type holdings struct {
	mu   sync.Mutex
	held map[types.UID]map[safeguard.Key]bool
}

// of returns the keys of the definitions that a selection has published; none where that is not
// known. Nobody may modify them.
func (h *holdings) of(cs *v1alpha1.CatalogSelection) map[safeguard.Key]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if keys, known := h.held[cs.UID]; known {
		return keys
	}
	definitions, _ := definitionsOf(cs)
	keys := keysOf(definitions)
	h.put(cs.UID, keys)
	return keys
}

// set replaces what a selection has published. The cache of the controller comes to know it later.
func (h *holdings) set(uid types.UID, keys map[safeguard.Key]bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.put(uid, keys)
}

func (h *holdings) put(uid types.UID, keys map[safeguard.Key]bool) {
	if h.held == nil {
		h.held = map[types.UID]map[safeguard.Key]bool{}
	}
	h.held[uid] = keys
}

func (h *holdings) forget(uid types.UID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.held, uid)
}

func keysOf(definitions []safeguard.Definition) map[safeguard.Key]bool {
	keys := make(map[safeguard.Key]bool, len(definitions))
	for _, d := range definitions {
		keys[d.Key()] = true
	}
	return keys
}

// others returns the selections besides cs that live. Nobody may modify them: they are the
// cache's.
func (r *CatalogSelectionReconciler) others(ctx context.Context, cs *v1alpha1.CatalogSelection) ([]*v1alpha1.CatalogSelection, error) {
	var list v1alpha1.CatalogSelectionList
	if err := r.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing CatalogSelections: %w", err)
	}
	var others []*v1alpha1.CatalogSelection
	for i := range list.Items {
		other := &list.Items[i]
		if other.UID != cs.UID && other.DeletionTimestamp.IsZero() {
			others = append(others, other)
		}
	}
	return others, nil
}

// contested refuses what an older selection holds: of two that act on this cluster and hold the
// same object, both would have Flux apply theirs, in turns and for ever.
func (r *CatalogSelectionReconciler) contested(ctx context.Context, cs *v1alpha1.CatalogSelection,
	keys map[safeguard.Key]bool, consumed consumers) error {
	if !consumed.actHere() {
		return nil
	}
	others, err := r.others(ctx, cs)
	if err != nil {
		return fail(v1alpha1.StorageFailedReason, err)
	}
	for _, other := range others {
		shared, count := overlap(keys, r.holdings.of(other))
		if count == 0 || !older(other, cs) {
			continue
		}
		theirs, err := r.consumersOf(ctx, other)
		if err != nil {
			return fail(v1alpha1.StorageFailedReason, err)
		}
		if theirs.actHere() {
			return fail(v1alpha1.ConflictReason, conflict(other, shared, count))
		}
	}
	return nil
}

func conflict(other *v1alpha1.CatalogSelection, shared safeguard.Key, count int) error {
	more := ""
	if count > 1 {
		more = fmt.Sprintf(" and %d more", count-1)
	}
	return fmt.Errorf("the CatalogSelection %s/%s is older and holds %s%s as well; exclude them in one of the two",
		other.Namespace, other.Name, shared.Name, more)
}

// older orders selections by their creation, and those of the same second by their names.
func older(a, b *v1alpha1.CatalogSelection) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.Namespace+"/"+a.Name < b.Namespace+"/"+b.Name
}

// overlap returns the first, by name, of the keys that both have, and the number of all.
func overlap(a, b map[safeguard.Key]bool) (first safeguard.Key, count int) {
	for key := range a {
		if b[key] {
			count++
			if count == 1 || key.Name < first.Name {
				first = key
			}
		}
	}
	return first, count
}

// wakeOthers makes the selections look again that a change of what cs holds may concern: those
// that hold the same, and those that are in conflict, with whomever.
func (r *CatalogSelectionReconciler) wakeOthers(ctx context.Context, cs *v1alpha1.CatalogSelection, keys map[safeguard.Key]bool) {
	others, err := r.others(ctx, cs)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "waking other selections")
		return
	}
	var concerned []types.NamespacedName
	for _, other := range others {
		_, count := overlap(keys, r.holdings.of(other))
		if count > 0 || conditions.GetReason(other, meta.ReadyCondition) == v1alpha1.ConflictReason {
			concerned = append(concerned, client.ObjectKeyFromObject(other))
		}
	}
	r.wake(ctx, concerned...)
}

// wake puts selections into the queue.
func (r *CatalogSelectionReconciler) wake(ctx context.Context, keys ...types.NamespacedName) {
	for _, key := range keys {
		cs := &v1alpha1.CatalogSelection{}
		cs.Name, cs.Namespace = key.Name, key.Namespace
		select {
		case r.woken <- event.GenericEvent{Object: cs}:
		case <-ctx.Done():
			return
		}
	}
}
