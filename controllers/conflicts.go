package controllers

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// holdings remembers, by the UID of a selection, the definitions in its artifact, so that the
// records of all selections need not be unpacked each time, and those that it wants to publish.
// The zero value is empty.
type holdings struct {
	mu     sync.Mutex
	held   map[types.UID]keys
	wanted map[types.UID]keys
}

// keys of definitions. Nobody may modify them once they are shared.
type keys map[safeguard.Key]bool

// of returns the keys of the definitions that a selection has published; none where that is not
// known.
func (h *holdings) of(cs *v1alpha1.CatalogSelection) keys {
	h.mu.Lock()
	defer h.mu.Unlock()
	if held, known := h.held[cs.UID]; known {
		return held
	}
	definitions, _ := definitionsOf(cs)
	h.put(&h.held, cs.UID, keysOf(definitions))
	return h.held[cs.UID]
}

// set replaces what a selection has published. The cache of the controller comes to know it later.
func (h *holdings) set(uid types.UID, held keys) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.put(&h.held, uid, held)
}

// want replaces what a selection wants to publish.
func (h *holdings) want(uid types.UID, wanted keys) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.put(&h.wanted, uid, wanted)
}

func (h *holdings) wantedBy(uid types.UID) keys {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.wanted[uid]
}

func (h *holdings) put(in *map[types.UID]keys, uid types.UID, value keys) {
	if *in == nil {
		*in = map[types.UID]keys{}
	}
	(*in)[uid] = value
}

func (h *holdings) forget(uid types.UID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.held, uid)
	delete(h.wanted, uid)
}

func keysOf(definitions []safeguard.Definition) keys {
	out := make(keys, len(definitions))
	for _, d := range definitions {
		out[d.Key()] = true
	}
	return out
}

// differing returns the keys that only one of the two has.
func differing(a, b keys) keys {
	out := keys{}
	for key := range a {
		if !b[key] {
			out[key] = true
		}
	}
	for key := range b {
		if !a[key] {
			out[key] = true
		}
	}
	return out
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
		gone, _ := r.gone.Load(client.ObjectKeyFromObject(other))
		if other.UID != cs.UID && other.DeletionTimestamp.IsZero() && gone != other.UID {
			others = append(others, other)
		}
	}
	return others, nil
}

// contested refuses what an older selection holds: of two that act on this cluster and hold the
// same object, both would have Flux apply theirs, in turns and for ever.
func (r *CatalogSelectionReconciler) contested(ctx context.Context, cs *v1alpha1.CatalogSelection,
	next keys, consumed consumers) error {
	if !consumed.actHere() {
		return nil
	}
	// Before looking what others hold: whoever changes that afterwards finds this one to wake.
	r.holdings.want(cs.UID, next)
	others, err := r.others(ctx, cs)
	if err != nil {
		return fail(v1alpha1.StorageFailedReason, err)
	}
	for _, other := range others {
		shared, count := overlap(next, r.holdings.of(other))
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
func overlap(a, b keys) (first safeguard.Key, count int) {
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

// wakeOthers makes the selections look again that hold, or want to hold, one of the definitions that
// cs has published, or has ceased to publish.
func (r *CatalogSelectionReconciler) wakeOthers(ctx context.Context, cs *v1alpha1.CatalogSelection, changed keys) {
	others, err := r.others(ctx, cs)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "waking other selections")
		return
	}
	var concerned []types.NamespacedName
	for _, other := range others {
		_, held := overlap(changed, r.holdings.of(other))
		_, wanted := overlap(changed, r.holdings.wantedBy(other.UID))
		if held+wanted > 0 {
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
