package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// HandoverError says that a selection cannot give up what another one renders yet.
type HandoverError struct{ message string }

// Reason is the reason of the condition.
func (e *HandoverError) Reason() string { return v1alpha1.HandoverReason }

func (e *HandoverError) Error() string { return e.message }

// HandOver is called before a selection publishes next, and makes sure that Flux deletes nothing that
// moves to another selection. What moves is marked, so that Flux does not delete it; where it may not
// be marked, the giver waits until the receiver has applied it, since Flux deletes only what the
// owner labels say is its own.
//
// What others render is known once they were evaluated, so that the giver waits for that, bounded.
func (c *Cluster) HandOver(ctx context.Context, cs *v1alpha1.CatalogSelection, around *Surroundings, next []safeguard.Definition) error {
	leaving := c.prunable(around, c.served(ctx, cs).without(around.Consumers.liveKeys(next)))
	if len(leaving) == 0 {
		return nil
	}
	if err := c.awaitOthers(ctx, cs, leaving); err != nil {
		return err
	}
	others, err := c.others(ctx, cs)
	if err != nil {
		return err
	}
	var unmarked []string
	for key, object := range leaving {
		renders := func(other *v1alpha1.CatalogSelection) bool {
			return c.claims.wants(other.UID, key)
		}
		if !slices.ContainsFunc(others, renders) {
			continue
		}
		done, err := c.mark(ctx, cs, object, func(m *marks) { m.kept = true })
		if err != nil {
			return err
		}
		if !done {
			unmarked = append(unmarked, key.Name)
		}
	}
	if len(unmarked) == 0 {
		return nil
	}
	slices.Sort(unmarked)
	return &HandoverError{fmt.Sprintf("%s moves to another CatalogSelection and may not be marked, "+
		"so that this one waits until the other one's Kustomization has applied it", strings.Join(unmarked[:min(len(unmarked), 10)], ", "))}
}

// prunable returns the live objects that a Kustomization of the selection will delete once its
// artifact lacks them.
func (c *Cluster) prunable(around *Surroundings, leaving Keys) map[safeguard.Key]*liveMeta {
	found := map[safeguard.Key]*liveMeta{}
	if len(leaving) == 0 {
		return found
	}
	for _, object := range around.live {
		i := slices.IndexFunc(around.Consumers.local(), func(item consumer) bool { return item.prune && item.key() == ownerOf(object) })
		if i >= 0 && leaving[keyOf(object)] && !untouched(object) && !strings.EqualFold(object.Annotations[pruneAnnotation], disabled) {
			found[keyOf(object)] = object
		}
	}
	return found
}

// awaitOthers waits until every other selection that may act here was evaluated since the selection
// was first about to let these objects go.
func (c *Cluster) awaitOthers(ctx context.Context, cs *v1alpha1.CatalogSelection, leaving map[safeguard.Key]*liveMeta) error {
	others, err := c.others(ctx, cs)
	if err != nil {
		return err
	}
	now, name := c.Now(), client.ObjectKeyFromObject(cs)
	c.claims.mu.Lock()
	last, known := c.claims.leaving[cs.UID]
	if !known || !sameKeys(last.keys, leaving) {
		last = departure{keys: keysOf(leaving), tick: c.claims.tick, time: now}
		put(&c.claims.leaving, cs.UID, last)
	}
	var pending []types.NamespacedName
	for _, other := range others {
		if !other.Spec.Suspend && c.claims.evaluated[other.UID] <= last.tick {
			pending = append(pending, client.ObjectKeyFromObject(other))
		}
	}
	wait := len(pending) > 0 && now.Sub(last.time) < barrierTimeout
	if wait {
		w := c.claims.waiting[name]
		w.evaluation = true
		put(&c.claims.waiting, name, w)
	}
	c.claims.mu.Unlock()
	if !wait {
		return nil
	}
	c.Enqueue(ctx, pending...)
	slices.SortFunc(pending, compareNames)
	return &HandoverError{fmt.Sprintf("waiting for %s, and %d more, to be evaluated: what one of them selects from now on must not be deleted",
		pending[0], len(pending)-1)}
}

func keysOf(objects map[safeguard.Key]*liveMeta) Keys {
	keys := make(Keys, len(objects))
	for key := range objects {
		keys[key] = true
	}
	return keys
}

func sameKeys(keys Keys, objects map[safeguard.Key]*liveMeta) bool {
	return len(keys) == len(objects) && len(keys.without(keysOf(objects))) == 0
}

// keptRetry is how soon a mark is looked at again that cannot be removed yet.
const keptRetry = 5 * time.Second

// endMoves removes the marks of the moves that have ended: the receiver's Kustomization is in the
// owner labels, has applied its revision, and no other inventory has the object, whose Kustomization
// would delete it otherwise. It reports whether there is a mark to come back for.
func (c *Cluster) endMoves(ctx context.Context, cs *v1alpha1.CatalogSelection, live []*liveMeta, consumed Consumers) (again bool, err error) {
	var errs []error
	for _, object := range live {
		if !owns(object, pruneAnnotation) || !consumed.include(ownerOf(object)) || !c.served(ctx, cs)[keyOf(object)] {
			continue
		}
		if again = true; !consumed.appliedHere() {
			continue
		}
		elsewhere, err := c.inOtherInventory(ctx, object)
		if err == nil && !elsewhere {
			_, err = c.mark(ctx, cs, object, func(m *marks) { m.kept = false })
		}
		errs = append(errs, err)
	}
	return again, errors.Join(errs...)
}

// inOtherInventory reports whether a Kustomization that is not in the owner labels of an object still
// has it in its inventory, and would delete it.
func (c *Cluster) inOtherInventory(ctx context.Context, object *liveMeta) (bool, error) {
	key, owner, found := keyOf(object), ownerOf(object), false
	err := c.eachKustomization(ctx, func(ks *kustomizev1.Kustomization) bool {
		found = ks.Spec.KubeConfig == nil && client.ObjectKeyFromObject(ks) != owner && inventoryOf(ks)[key]
		return !found
	})
	return found, err
}
