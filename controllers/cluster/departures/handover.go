// SPDX-License-Identifier: Apache-2.0

package departures

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/leaving"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/controllers/cluster/marks"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// HandOver makes sure that Flux deletes no object that has to stay, before a selection publishes next. With deletionPolicy Orphan
// these are all that leave, see keep. With Delete, they are those that move to another selection. It decides on each that leaves:
//
//	a receiver                                  the object
//	selects it, and is able to apply it         leaves the artifact, marked; without the right to mark it stays
//	may select it, or cannot apply it yet       stays, marked, for leaving.Timeout after the first attempt
//	the same, and the time is over, but a       leaves the artifact, marked; without the right to mark it stays
//	  receiver that may select it is able
//	none, or the time is over                   leaves the artifact, without a mark: Flux may delete it
//
// A selection that renders an object may select it, and selects it once its safeguards have let that render pass. It is able to
// apply an object if it is neither suspended nor held, and a live object of its kind and namespace names one of its
// Kustomizations in the owner labels. Flux forgets an object with a mark once it left the artifact, so an object that is
// not decided upon stays in the artifact, where a mark can be taken back. A selection that renders a release of Helm of the
// object, in whatever HelmRelease, selects the object: helm-controller uninstalls the release with any of its HelmReleases.
//
// The objects that stay are state.Staying, and status.leaving has the times of all first attempts. What stays without a
// mark is not safe from the mistakes of its receiver, so that the error is a *HandoverError within leaving.Timeout. Nothing
// that other selections do prolongs that. The error is one as well while a placeholder does not fit the patches of a
// Kustomization.
func (ds *Departures) HandOver(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State, next []safeguard.Definition) error {
	leaving := ds.leaving(ctx, cs, state, next)
	state.Staying = nil
	if cs.Spec.GetDeletionPolicy() == v1alpha1.DeletionPolicyOrphan {
		if err := ds.keep(ctx, cs, leaving); err != nil {
			return err
		}
		leaving = nil // nothing deletes them
	}
	if len(leaving) == 0 {
		ds.Claims.Ledger.Stay(cs.UID)
		return nil
	}
	others, err := ds.Claims.Others(ctx, cs)
	if err != nil {
		return err
	}
	d := newDeparture(cs, leaving, ds.Now())
	cs.Status.Leaving = append(d.entries(), d.elsewhere(cs)...)
	tick, seen := ds.Claims.Ledger.Depart(cs.UID, keysOf(leaving), d.now)
	d.seen = seen
	if err := ds.awaitOthers(ctx, cs, d, tick, others); err != nil {
		return err
	}
	receivers, err := ds.receivers(ctx, others, state.Live, tick)
	if err != nil {
		return err
	}
	releases, err := ds.releasesOf(ctx, leaving)
	if err != nil {
		return err
	}
	for _, key := range slices.SortedFunc(maps.Keys(leaving), inventory.Compare) {
		if err := ds.giveUp(ctx, cs, d, leaver{key, releases[key]}, receivers); err != nil {
			return err
		}
	}
	state.Staying = d.entries()
	if err := d.unsafe(); err != nil {
		return err
	}
	owners := map[types.NamespacedName]bool{}
	for _, object := range leaving {
		owners[guard.OwnerOf(object)] = true
	}
	if misfit := state.Consumers.Misfit(ctx, state.Staying, cs.Namespace, owners); misfit != "" {
		return &HandoverError{misfit}
	}
	return nil
}

// releasesOf maps the main objects of instances among the live objects to their releases. They are read from the live
// objects, because the last artifact may have nothing but a placeholder of them.
func (ds *Departures) releasesOf(ctx context.Context, objects map[safeguard.Key]*guard.Live) (map[safeguard.Key][]safeguard.Key, error) {
	mains := map[safeguard.Key]*guard.Live{}
	for key, object := range objects {
		if !key.IsDefinition() {
			mains[key] = object
		}
	}
	releases := map[safeguard.Key][]safeguard.Key{}
	err := ds.Claims.Objects.Read(ctx, slices.Collect(maps.Values(mains)), func(content map[string]any) {
		d := installation.DefinitionOf(content)
		d.Instance = cmp.Or(d.Instance, d.Name)
		releases[d.Key()] = d.Releases()
	})
	return releases, err
}

// giveUp decides on one object that leaves.
func (ds *Departures) giveUp(ctx context.Context, cs *v1alpha1.CatalogSelection, d *departure, l leaver, receivers []receiver) error {
	key := l.key
	object, over := d.objects[key], d.over(key)
	to, decided := chooseReceiver(receivers, l, over)
	if to == nil {
		// The mark of an unfinished move must not keep an object that is removed on purpose.
		_, err := ds.Marks.Mark(ctx, cs, object, func(m *marks.Set) { m.Kept = false })
		d.leaves(key)
		return err
	}
	was := guard.Owns(object, guard.PruneAnnotation)
	marked, err := ds.Marks.Mark(ctx, cs, object, func(m *marks.Set) { m.Kept = true })
	if err != nil {
		return err
	}
	if marked && !was {
		why := fmt.Sprintf("it moves to the CatalogSelection %s", to.name)
		if !decided {
			why = fmt.Sprintf("the CatalogSelection %s may select it, which is not certain yet", to.name)
		}
		ds.Events.Eventf(cs, corev1.EventTypeNormal, v1alpha1.HandoverReason, "%s is kept in the cluster: %s", key.Name, why)
	}
	if marked && decided {
		d.leaves(key)
		return nil
	}
	d.stays(key, to.name, marked)
	return nil
}

// Receive marks the objects that other Kustomizations have applied, before a selection publishes them: such a
// Kustomization deletes an object when it applies an artifact without it. Marks.EndMoves removes the marks.
func (ds *Departures) Receive(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State, next []safeguard.Definition) error {
	if !state.Consumers.ActHere() {
		return nil
	}
	claimed := state.Consumers.LiveKeys(next)
	for _, object := range state.Live {
		owner := guard.OwnerOf(object)
		if !claimed[guard.LiveKey(object)] || owner.Name == "" || state.Consumers.Include(owner) || guard.Kept(object) {
			continue
		}
		if _, err := ds.Marks.Mark(ctx, cs, object, func(m *marks.Set) { m.Kept = true }); err != nil {
			return err
		}
	}
	return nil
}

// leaving returns the live objects that a Kustomization of the selection deletes once it applies the next definitions, according
// to their owner labels.
func (ds *Departures) leaving(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State, next []safeguard.Definition) map[safeguard.Key]*guard.Live {
	found := map[safeguard.Key]*guard.Live{}
	served, listed := ds.Claims.Served(ctx, cs), inventory.Keys{}
	for _, entry := range cs.Status.Leaving {
		listed[leaving.Key(entry)] = true
	}
	kept := map[types.NamespacedName]inventory.Keys{} // by the Kustomizations that delete what they do not keep
	for _, item := range state.Consumers.Local() {
		if item.Prune {
			kept[item.Key()] = consumers.Consumers{Items: []consumers.Consumer{item}}.LiveKeys(next)
		}
	}
	for _, object := range state.Live {
		key, owner := guard.LiveKey(object), guard.OwnerOf(object)
		keys, pruned := kept[owner]
		distant := !slices.ContainsFunc(state.Consumers.Naming(), func(item consumers.Consumer) bool { return item.Key() == owner })
		protected := guard.Kept(object) && !guard.Owns(object, guard.PruneAnnotation)
		if pruned && !keys[key] && (served == nil || served[key] || listed[key] || distant && guard.AppliedBy(cs, object)) && !protected {
			found[key] = object
		}
	}
	return found
}

// awaitOthers enqueues the other selections that were not evaluated after the first attempt to give up these objects. It returns
// a HandoverError until they were, and no longer than barrierTimeout.
func (ds *Departures) awaitOthers(ctx context.Context, cs *v1alpha1.CatalogSelection, d *departure, tick uint64, others []*v1alpha1.CatalogSelection) error {
	pending := ds.Claims.Ledger.AwaitEvaluation(client.ObjectKeyFromObject(cs), tick, others)
	if len(pending) == 0 {
		return nil
	}
	ds.Claims.Enqueue(ctx, pending...)
	if d.now.Sub(d.latest()) >= barrierTimeout {
		return nil
	}
	slices.SortFunc(pending, consumers.CompareNames)
	first := pending[0].String()
	if more := len(pending) - 1; more > 0 {
		first += fmt.Sprintf(" and %d more", more)
	}
	return &HandoverError{fmt.Sprintf("waiting for the evaluation of %s: applications that it selects must not be deleted", first)}
}

func keysOf(objects map[safeguard.Key]*guard.Live) inventory.Keys {
	keys := make(inventory.Keys, len(objects))
	for key := range objects {
		keys[key] = true
	}
	return keys
}

// Kept returns the condition Kept without its type; nil if nothing is kept. state is the result of Observe.
func (ds *Departures) Kept(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State) *metav1.Condition {
	const listed = 10
	served, placed := ds.Claims.Served(ctx, cs), leaving.Placeholders(cs)
	orphans := cs.Spec.GetDeletionPolicy() == v1alpha1.DeletionPolicyOrphan // which stay without being reported
	var parts []string
	for _, entry := range leaving.InArtifact(cs) {
		parts = append(parts, leaving.Describe(entry, ds.Now()))
	}
	var marked []string
	for _, object := range state.Live {
		mine := guard.AppliedBy(cs, object) || state.Consumers.Include(guard.OwnerOf(object))
		if key := guard.LiveKey(object); !orphans && guard.Owns(object, guard.PruneAnnotation) && mine && served != nil && !served[key] && !placed[key] {
			marked = append(marked, key.FullName())
		}
	}
	if len(marked) > 0 {
		slices.Sort(marked)
		parts = append(parts, fmt.Sprintf("no CatalogSelection has applied %s yet, kept in the cluster with a mark: delete by hand the objects that are not needed",
			excerpt.Names(marked, listed)))
	}
	if len(parts) == 0 {
		return nil
	}
	message := bounds.Truncate(excerpt.Clauses(parts, listed, 0, strings.Clone), bounds.ConditionMessage)
	return &metav1.Condition{Status: metav1.ConditionTrue, Reason: v1alpha1.HandoverReason, Message: message}
}
