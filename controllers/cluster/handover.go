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

// HandoverError reports that a selection cannot give up a definition yet that another one renders.
type HandoverError struct{ message string }

// Reason is the reason of the condition.
func (e *HandoverError) Reason() string { return v1alpha1.HandoverReason }

func (e *HandoverError) Error() string { return e.message }

// HandOver makes sure that Flux deletes no object that moves to another selection, before a selection publishes
// next. It marks the objects that move, or may move. If it may not mark one, the selection waits until the
// receiver has applied the object, because Flux deletes only objects whose owner labels name the pruning
// Kustomization.
//
// The renders of the other selections are known once those were evaluated. HandOver waits for that, bounded.
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
		i := slices.IndexFunc(receivers, func(r receiver) bool { return r.keys[key] })
		if i < 0 {
			i = slices.IndexFunc(receivers, func(r receiver) bool { return r.unknown })
		}
		if i < 0 {
			// The mark of an unfinished move must not keep an object that is removed on purpose.
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
		if receivers[i].unknown && !receivers[i].keys[key] {
			why = fmt.Sprintf("the CatalogSelection %s may select it, which is not certain yet", receivers[i].name)
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

// Receive marks the objects that other Kustomizations have applied, before a selection publishes them: such a
// Kustomization deletes an object when it applies an artifact without it. endMoves removes the marks.
func (c *Cluster) Receive(ctx context.Context, cs *v1alpha1.CatalogSelection, around *Surroundings, next []safeguard.Definition) error {
	if !around.Consumers.ActHere() {
		return nil
	}
	claimed := around.Consumers.liveKeys(next)
	for _, object := range around.live {
		owner := ownerOf(object)
		if !claimed[keyOf(object)] || owner.Name == "" || around.Consumers.include(owner) || guard.Kept(object) {
			continue
		}
		if _, err := c.mark(ctx, cs, object, func(m *marks) { m.kept = true }); err != nil {
			return err
		}
	}
	return nil
}

// receiver is another selection to which objects may move.
type receiver struct {
	name types.NamespacedName
	keys Keys
	// unknown is true while the render of the present spec, or its intention, is not known.
	unknown bool
}

// receivers returns the selections to which objects may move: those with a Kustomization in this cluster, and
// those whose spec is so new that their Kustomization may follow. A new spec that has no render yet, or whose
// render has a doubt, may claim any object; an older one claims only the objects in its latest render.
func (c *Cluster) receivers(ctx context.Context, others []*v1alpha1.CatalogSelection) ([]receiver, error) {
	var receivers []receiver
	for _, other := range others {
		consumed, err := c.ConsumersOf(ctx, other)
		if err != nil {
			return nil, err
		}
		name := client.ObjectKeyFromObject(other)
		keys, rendered := c.claims.latest(other.UID, other.Generation)
		fresh := c.claims.age(other.UID, other.Generation, c.Now()) < moveTimeout
		switch {
		case !consumed.ActHere() && (!fresh || !consumed.None()):
		case fresh && c.claims.doubts(other.UID, other.Generation):
			receivers = append(receivers, receiver{name: name, keys: keys, unknown: true})
		case rendered || !fresh:
			receivers = append(receivers, receiver{name: name, keys: keys})
		default:
			receivers = append(receivers, receiver{name: name, keys: keys, unknown: !c.Rendered(other)})
		}
	}
	return receivers, nil
}

// leaving returns the live objects that a Kustomization of the selection deletes once it applies an artifact
// with the kept keys, according to their owner labels.
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

// awaitOthers returns a HandoverError until every other selection was evaluated after the first attempt to
// remove these objects.
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
	return &HandoverError{fmt.Sprintf("waiting for the evaluation of %s: applications that it selects must not be deleted", first)}
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

// moveRetry is the interval at which an unfinished move is checked again.
const moveRetry = 5 * time.Second

// endMoves removes the marks of finished moves: the owner labels name the Kustomization of the receiver, which
// has applied its revision, and no other inventory has the object, whose Kustomization would delete it. It
// reports whether there is a mark of an unfinished move.
func (c *Cluster) endMoves(ctx context.Context, cs *v1alpha1.CatalogSelection, live []*liveMeta, consumed Consumers) (unfinished bool, err error) {
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
	unsettled, err := c.unsettledMoves(ctx, arrived)
	if err != nil {
		return true, err
	}
	var errs []error
	for key, object := range arrived {
		if unsettled[key] {
			unfinished = true
			continue
		}
		_, err := c.mark(ctx, cs, object, func(m *marks) { m.kept = false })
		errs = append(errs, err)
	}
	return unfinished, errors.Join(errs...)
}

// unsettledMoves returns the objects in the inventory of a Kustomization that is not in their owner labels,
// which would delete them; and the objects that their owner has not applied since they were marked: it may be
// applying an artifact without them.
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

// appliedSince reports whether the last apply of a Kustomization came after a time. Times in the API are
// whole seconds: a revision that is new since then may be of the same second, an older one may not. A
// kustomize-controller without a history gets moveTimeout.
func appliedSince(ks *kustomizev1.Kustomization, at, now time.Time) bool {
	last := ks.Status.History.Latest()
	if last == nil {
		return now.Sub(at) > moveTimeout
	}
	return last.LastReconciledStatus == meta.ReconciliationSucceededReason &&
		(!last.FirstReconciled.Before(&metav1.Time{Time: at}) || last.LastReconciled.After(at))
}

// markedAt returns when the marks of a definition were last set.
func markedAt(object *liveMeta) (at time.Time) {
	for _, f := range object.ManagedFields {
		if f.Manager == marksOwner && f.Time != nil && f.Time.After(at) {
			at = f.Time.Time
		}
	}
	return at
}
