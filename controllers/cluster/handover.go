package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// HandoverError says that a selection cannot give up what another one renders yet.
type HandoverError struct{ message string }

// Reason is the reason of the condition.
func (e *HandoverError) Reason() string { return v1alpha1.HandoverReason }

func (e *HandoverError) Error() string { return e.message }

// HandOver is called before a selection publishes next, and makes sure that Flux deletes nothing that
// moves to another selection. What moves, or may move, is marked, so that Flux does not delete it; where
// it may not be marked, the giver waits until the receiver has applied it, since Flux deletes only what
// the owner labels say is its own.
//
// What others render is known once they were evaluated, so that the giver waits for that, bounded.
func (c *Cluster) HandOver(ctx context.Context, cs *v1alpha1.CatalogSelection, around *Surroundings, next []safeguard.Definition) error {
	leaving := c.leaving(ctx, cs, around, around.Consumers.liveKeys(next))
	if len(leaving) == 0 {
		return nil
	}
	others, err := c.others(ctx, cs)
	if err != nil {
		return err
	}
	if err := c.awaitOthers(ctx, cs, leaving, others); err != nil {
		return err
	}
	receivers, err := c.receivers(ctx, others)
	if err != nil {
		return err
	}
	var unmarked []string
	for key, object := range leaving {
		i := slices.IndexFunc(receivers, func(r receiver) bool { return r.wanted[key] })
		if i < 0 {
			i = slices.IndexFunc(receivers, func(r receiver) bool { return r.unknown })
		}
		if i < 0 {
			// A mark of a move that did not end must not keep what is removed on purpose.
			if _, err := c.mark(ctx, cs, object, func(m *marks) { m.kept = false }); err != nil {
				return err
			}
			continue
		}
		done, err := c.mark(ctx, cs, object, func(m *marks) { m.kept = true })
		if err != nil {
			return err
		}
		if !done {
			unmarked = append(unmarked, key.Name)
			continue
		}
		why := fmt.Sprintf("it moves to the CatalogSelection %s", receivers[i].name)
		if receivers[i].unknown && !receivers[i].wanted[key] {
			why = fmt.Sprintf("what the CatalogSelection %s selects is not known for certain yet, so that it may move there", receivers[i].name)
		}
		c.Events.Eventf(cs, corev1.EventTypeNormal, v1alpha1.HandoverReason, "%s is kept in the cluster: %s", key.Name, why)
	}
	if len(unmarked) == 0 {
		return nil
	}
	slices.Sort(unmarked)
	return &HandoverError{fmt.Sprintf("%s moves to another CatalogSelection and may not be marked, "+
		"so that this one waits until the other one's Kustomization has applied it", strings.Join(unmarked[:min(len(unmarked), 10)], ", "))}
}

// Receive is called before a selection publishes what another Kustomization has applied: until that one has
// looked at its artifact without it, it would delete it. The mark goes when the move has ended.
func (c *Cluster) Receive(ctx context.Context, cs *v1alpha1.CatalogSelection, around *Surroundings, next []safeguard.Definition) error {
	if !around.Consumers.ActHere() {
		return nil
	}
	wanted := around.Consumers.liveKeys(next)
	for _, object := range around.live {
		owner := ownerOf(object)
		if !wanted[keyOf(object)] || owner.Name == "" || around.Consumers.include(owner) || guard.Kept(object) {
			continue
		}
		if _, err := c.mark(ctx, cs, object, func(m *marks) { m.kept = true }); err != nil {
			return err
		}
	}
	return nil
}

// receiver is another selection that may receive what leaves.
type receiver struct {
	name   types.NamespacedName
	wanted Keys
	// unknown is true while what it renders, or is meant to render, is not known.
	unknown bool
}

// receivers returns the selections that may receive what leaves this one: those with a Kustomization
// here, and those whose spec is so new that theirs may be on its way. Of a spec that is new, and was not
// rendered yet or has a doubt, everything may be wanted; of one that is not new, what is not known to be
// wanted is not.
func (c *Cluster) receivers(ctx context.Context, others []*v1alpha1.CatalogSelection) ([]receiver, error) {
	var receivers []receiver
	for _, other := range others {
		consumed, err := c.ConsumersOf(ctx, other)
		if err != nil {
			return nil, err
		}
		name := client.ObjectKeyFromObject(other)
		wanted, rendered := c.claims.latest(other.UID, other.Generation)
		fresh := c.claims.age(other.UID, other.Generation, c.Now()) < moveTimeout
		switch {
		case !consumed.ActHere() && (!fresh || !consumed.None()):
		case fresh && c.claims.doubts(other.UID, other.Generation):
			receivers = append(receivers, receiver{name: name, wanted: wanted, unknown: true})
		case rendered || !fresh:
			receivers = append(receivers, receiver{name: name, wanted: wanted})
		default:
			receivers = append(receivers, receiver{name: name, wanted: wanted, unknown: !c.Rendered(other)})
		}
	}
	return receivers, nil
}

// leaving returns the live objects that a Kustomization of the selection will delete once it applies what
// has the kept keys: what Flux wrote on them counts, and no record.
func (c *Cluster) leaving(ctx context.Context, cs *v1alpha1.CatalogSelection, around *Surroundings, kept Keys) map[safeguard.Key]*liveMeta {
	found := map[safeguard.Key]*liveMeta{}
	served := c.served(ctx, cs)
	for _, object := range around.live {
		key, owner := keyOf(object), ownerOf(object)
		pruned := slices.ContainsFunc(around.Consumers.local(), func(item consumer) bool { return item.prune && item.key() == owner })
		protected := guard.Kept(object) && !owns(object, pruneAnnotation)
		if pruned && !kept[key] && (served == nil || served[key]) && !protected {
			found[key] = object
		}
	}
	return found
}

// awaitOthers waits until every other selection was evaluated since the selection was first about to let
// these objects go.
func (c *Cluster) awaitOthers(ctx context.Context, cs *v1alpha1.CatalogSelection, leaving map[safeguard.Key]*liveMeta,
	others []*v1alpha1.CatalogSelection) error {
	now, name := c.Now(), client.ObjectKeyFromObject(cs)
	c.claims.mu.Lock()
	last, known := c.claims.leaving[cs.UID]
	if !known || !sameKeys(last.keys, leaving) {
		last = departure{keys: keysOf(leaving), tick: c.claims.tick, time: now}
		put(&c.claims.leaving, cs.UID, last)
	}
	var pending []types.NamespacedName
	uids := map[types.UID]bool{}
	for _, other := range others {
		if !other.Spec.Suspend && c.claims.evaluated[other.UID] <= last.tick {
			pending, uids[other.UID] = append(pending, client.ObjectKeyFromObject(other)), true
		}
	}
	wait := len(pending) > 0 && now.Sub(last.time) < barrierTimeout
	if wait {
		w := c.claims.waiting[name]
		w.pending = uids
		put(&c.claims.waiting, name, w)
	}
	c.claims.mu.Unlock()
	if !wait {
		return nil
	}
	c.Enqueue(ctx, pending...)
	slices.SortFunc(pending, compareNames)
	first := pending[0].String()
	if more := len(pending) - 1; more > 0 {
		first += fmt.Sprintf(" and %d more", more)
	}
	return &HandoverError{fmt.Sprintf("waiting for %s to be evaluated: what is selected there from now on must not be deleted", first)}
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
	served := c.served(ctx, cs)
	arrived := map[safeguard.Key]*liveMeta{}
	for _, object := range live {
		if key := keyOf(object); owns(object, pruneAnnotation) && consumed.include(ownerOf(object)) && served[key] {
			arrived[key] = object
		}
	}
	if len(arrived) == 0 || !consumed.appliedHere() {
		return len(arrived) > 0, nil
	}
	elsewhere, err := c.unsettledMoves(ctx, arrived)
	if err != nil {
		return true, err
	}
	var errs []error
	for key, object := range arrived {
		if elsewhere[key] {
			again = true
			continue
		}
		_, err := c.mark(ctx, cs, object, func(m *marks) { m.kept = false })
		errs = append(errs, err)
	}
	return again, errors.Join(errs...)
}

// unsettledMoves returns the objects that a Kustomization which is not in their owner labels still has in
// its inventory, and would delete; and those that their own one has not applied since they were marked: it
// may be on its way with an artifact without them.
func (c *Cluster) unsettledMoves(ctx context.Context, objects map[safeguard.Key]*liveMeta) (Keys, error) {
	found := Keys{}
	err := c.eachKustomization(ctx, func(ks *kustomizev1.Kustomization) bool {
		if ks.Spec.KubeConfig != nil {
			return true
		}
		name, inventory := client.ObjectKeyFromObject(ks), inventoryOf(ks)
		for key, object := range objects {
			if owner := ownerOf(object); owner != name && inventory[key] ||
				owner == name && !appliedSince(ks, markedAt(object), c.Now()) {
				found[key] = true
			}
		}
		return true
	})
	return found, err
}

// appliedSince reports whether a Kustomization has applied what it applied last after a time. Times of the API
// are whole seconds: a revision that is new since then may be of the same second, one that it had before
// may not. A kustomize-controller without a history is given moveTimeout.
func appliedSince(ks *kustomizev1.Kustomization, at, now time.Time) bool {
	last := ks.Status.History.Latest()
	if last == nil {
		return now.Sub(at) > moveTimeout
	}
	return last.LastReconciledStatus == meta.ReconciliationSucceededReason &&
		(!last.FirstReconciled.Before(&metav1.Time{Time: at}) || last.LastReconciled.After(at))
}

// markedAt returns when the marks of a definition were set last.
func markedAt(object *liveMeta) (at time.Time) {
	for _, f := range object.ManagedFields {
		if f.Manager == marksOwner && f.Time != nil && f.Time.After(at) {
			at = f.Time.Time
		}
	}
	return at
}
