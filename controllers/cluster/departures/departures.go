// SPDX-License-Identifier: Apache-2.0

// Package departures lets objects leave the artifacts of selections: what another selection claims stays in the cluster. It must not
// know how a selection is rendered.
package departures

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/holders"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/controllers/cluster/marks"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Departures lets objects leave the artifacts of selections. All fields are required.
type Departures struct {
	Holders *holders.Holders
	Objects *live.Objects
	Marks   *marks.Marks

	// waiting maps the UID of a selection to the keys that it is about to give up, with the time since when. Nothing that others do
	// prolongs its wait.
	waiting sync.Map
}

// HandoverError reports that a selection cannot give up an object yet that another one may be about to claim.
type HandoverError struct{ message string }

// Reason is the reason of the condition.
func (e *HandoverError) Reason() string { return v1alpha1.HandoverReason }

func (e *HandoverError) Error() string { return e.message }

// changes is the error of an object that cannot be marked at the moment.
func changes(key safeguard.Key) error {
	return &HandoverError{fmt.Sprintf("%s is about to be marked, and changes at the same time", key.FullName())}
}

// Forget deletes the state of a selection that is deleted, or has published.
func (ds *Departures) Forget(uid types.UID) { ds.waiting.Delete(uid) }

// waits returns the keys of objects that leave with the time since when, and remembers that.
func (ds *Departures) waits(uid types.UID, leaving map[safeguard.Key]*guard.Live) map[safeguard.Key]time.Time {
	last, _ := ds.waiting.Load(uid)
	before, _ := last.(map[safeguard.Key]time.Time)
	since := make(map[safeguard.Key]time.Time, len(leaving))
	for key := range leaving {
		if at, waited := before[key]; waited {
			since[key] = at
		} else {
			since[key] = ds.Holders.View.Now()
		}
	}
	ds.waiting.Store(uid, since)
	return since
}

// Leaving are the live objects that leave the artifact of a selection, and that Flux would delete.
type Leaving struct {
	objects map[safeguard.Key]*guard.Live
	// releases maps the main objects of instances among them to their releases; empty with deletionPolicy Orphan.
	releases map[safeguard.Key][]safeguard.Key
}

// Leaving returns the objects that leave once a selection publishes next.
func (ds *Departures) Leaving(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State, next []safeguard.Definition) (Leaving, error) {
	l := Leaving{objects: leaving(cs, state, next)}
	if cs.Spec.GetDeletionPolicy() == v1alpha1.DeletionPolicyOrphan {
		return l, nil
	}
	maps.DeleteFunc(l.objects, func(_ safeguard.Key, object *guard.Live) bool {
		return guard.StaysUntouched(cs, object) || !object.DeletionTimestamp.IsZero()
	})
	var err error
	l.releases, err = ds.releasesOf(ctx, l.objects)
	return l, err
}

// receivers returns the other selections that claim an object that leaves, or one of its releases.
func (ds *Departures) receivers(cs *v1alpha1.CatalogSelection, l Leaving, key safeguard.Key) []types.NamespacedName {
	return ds.Holders.Receivers(cs, append([]safeguard.Key{key}, l.releases[key]...)...)
}

// Await returns a *HandoverError while a selection gives up objects that another one may be about to claim: the claim of that one is
// older than its spec, and the spec is new.
func (ds *Departures) Await(ctx context.Context, cs *v1alpha1.CatalogSelection, l Leaving) error {
	if cs.Spec.GetDeletionPolicy() == v1alpha1.DeletionPolicyOrphan {
		return nil
	}
	if len(l.objects) == 0 {
		ds.Forget(cs.UID)
		return nil
	}
	if err := ds.Holders.View.Await(ctx, cs.UID, cs.ResourceVersion); err != nil {
		return err
	}
	waits := ds.waits(cs.UID, l.objects)
	maps.DeleteFunc(waits, func(key safeguard.Key, since time.Time) bool {
		return len(ds.receivers(cs, l, key)) > 0 || ds.Holders.View.Now().Sub(since) >= holders.Patience
	})
	undecided := ds.Holders.Undecided(cs)
	if len(waits) == 0 || len(undecided) == 0 {
		return nil
	}
	return &HandoverError{fmt.Sprintf("%d objects would be deleted, and may be about to move to %s: waiting until that is evaluated, for at most %s",
		len(waits), excerpt.List(undecided, 3, types.NamespacedName.String), holders.Patience)}
}

// published returns the definition of a live object in the artifact; without one, its key alone.
func published(state *live.State, key safeguard.Key, object *guard.Live) safeguard.Definition {
	for _, d := range state.Published {
		for _, item := range state.Consumers.Naming() {
			if item.Live(d.Key()) == key {
				return d
			}
		}
	}
	return safeguard.Definition{APIVersion: object.APIVersion, Kind: object.Kind, Namespace: object.Namespace, Name: object.Name}
}

// HandOver makes sure that Flux deletes no object that has to stay, before a selection publishes next. With deletionPolicy Orphan, all
// objects that leave have to stay, see keep. With Delete, the objects have to stay that another selection claims: they leave the
// artifact marked, or stay in it if they may not be marked, see live.Staying. The same applies if another selection claims the release
// of a HelmRelease, because helm-controller uninstalls it. All other objects lose their mark, so that Flux may delete them. kept are
// the objects that the last artifact keeps.
func (ds *Departures) HandOver(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State, l Leaving, kept []live.Staying) error {
	state.Staying = nil
	if cs.Spec.GetDeletionPolicy() == v1alpha1.DeletionPolicyOrphan {
		return ds.keep(ctx, cs, l.objects)
	}
	for _, key := range slices.SortedFunc(maps.Keys(l.objects), inventory.Compare) {
		object, to := l.objects[key], ds.receivers(cs, l, key)
		if len(to) == 0 {
			if !state.Served[key] { // it may have left before
				continue
			}
			// the mark of an unfinished move must not keep an object that is removed on purpose
			if _, err := ds.Marks.Mark(ctx, cs, object, func(m *marks.Set) { m.Kept = false }); err != nil {
				return err
			}
			continue
		}
		err := ds.move(ctx, cs, object, to[0])
		if _, refused := errors.AsType[*marks.Refused](err); !refused {
			if err != nil {
				return err
			}
			continue
		}
		staying := live.Staying{
			Key: key, Definition: published(state, key, object), Receiver: to[0], Moves: len(ds.Holders.Receivers(cs, key)) > 0, Since: metav1.NewTime(ds.Holders.View.Now()),
		}
		if i := slices.IndexFunc(kept, func(s live.Staying) bool { return s.Key == key && !s.Since.IsZero() }); i >= 0 {
			staying.Since = kept[i].Since
		}
		awaited, err := ds.Holders.IsAwaited(ctx, state, to, key)
		if err != nil {
			return err
		}
		if awaited || ds.Holders.View.Now().Sub(staying.Since.Time) < holders.Patience {
			state.Staying = append(state.Staying, staying)
		}
	}
	return nil
}

// move marks an object that moves to another selection. The error is a *marks.Refused if it may not be marked.
func (ds *Departures) move(ctx context.Context, cs *v1alpha1.CatalogSelection, object *guard.Live, to types.NamespacedName) error {
	was := guard.Kept(object)
	err := ds.Marks.Keep(ctx, cs, object)
	switch {
	case errors.Is(err, marks.ErrChanged):
		return changes(guard.LiveKey(object))
	case err == nil && !was:
		ds.Marks.Events.Eventf(cs, corev1.EventTypeNormal, v1alpha1.HandoverReason, "%s is kept in the cluster: it moves to the CatalogSelection %s", object.Name, to)
	}
	return err
}

// Protect marks the live objects that a Kustomization of the selection would prune because the publication lacks them, and that another
// selection claims: Flux may have applied an earlier publication after they were given up.
func (ds *Departures) Protect(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State) error {
	for _, object := range state.Own {
		key, owner := guard.LiveKey(object), guard.OwnerOf(object)
		pruned := slices.ContainsFunc(state.Consumers.Local(), func(item consumers.Consumer) bool { return item.Prune && item.Key() == owner })
		if !pruned || state.Served == nil || state.Served[key] || guard.Kept(object) || len(ds.Holders.Receivers(cs, key)) == 0 {
			continue
		}
		if _, err := ds.Marks.Mark(ctx, cs, object, func(m *marks.Set) { m.Kept = true }); err != nil {
			return err
		}
	}
	return nil
}

// releasesOf maps the main objects of instances among the live objects to their releases.
func (ds *Departures) releasesOf(ctx context.Context, objects map[safeguard.Key]*guard.Live) (map[safeguard.Key][]safeguard.Key, error) {
	mains := map[safeguard.Key]*guard.Live{}
	for key, object := range objects {
		if !key.IsDefinition() {
			mains[key] = object
		}
	}
	releases := map[safeguard.Key][]safeguard.Key{}
	err := ds.Objects.Read(ctx, slices.Collect(maps.Values(mains)), func(content map[string]any) {
		d := installation.DefinitionOf(content)
		d.Instance = cmp.Or(d.Instance, d.Name)
		releases[d.Key()] = d.Releases()
	})
	return releases, err
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
		if !claimed[guard.LiveKey(object)] || owner.Name == "" || state.Consumers.Include(owner) || keptByOthers(object) {
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
func leaving(cs *v1alpha1.CatalogSelection, state *live.State, next []safeguard.Definition) map[safeguard.Key]*guard.Live {
	found := map[safeguard.Key]*guard.Live{}
	kept := map[types.NamespacedName]inventory.Keys{} // by the Kustomizations that delete what they do not keep
	for _, item := range state.Consumers.Local() {
		if item.Prune {
			kept[item.Key()] = consumers.Consumers{Items: []consumers.Consumer{item}}.LiveKeys(next)
		}
	}
	for _, object := range state.Own {
		key, owner := guard.LiveKey(object), guard.OwnerOf(object)
		keys, pruned := kept[owner]
		distant := !slices.ContainsFunc(state.Consumers.Naming(), func(item consumers.Consumer) bool { return item.Key() == owner })
		if pruned && !keys[key] && (state.Served == nil || state.Served[key] || distant && guard.AppliedBy(cs, object)) && !keptByOthers(object) {
			found[key] = object
		}
	}
	return found
}

// keptByOthers reports whether Flux deletes an object in no case, by an annotation that Winnow does not remove.
func keptByOthers(object *guard.Live) bool {
	return guard.Kept(object) && !guard.Owns(object, guard.PruneAnnotation)
}

// Kept returns the condition Kept without its type; nil if nothing is kept. state is the result of Observe, and staying what the
// artifact keeps.
func (ds *Departures) Kept(cs *v1alpha1.CatalogSelection, state *live.State, staying []live.Staying) *metav1.Condition {
	const listed = 10
	orphans := cs.Spec.GetDeletionPolicy() == v1alpha1.DeletionPolicyOrphan // which stay without being reported
	parts, placed := make([]string, 0, len(staying)), inventory.Keys{}
	for _, s := range staying {
		parts, placed[s.Key] = append(parts, s.String()), true
	}
	var marked []string
	for _, object := range state.Own {
		key := guard.LiveKey(object)
		if !orphans && guard.Owns(object, guard.PruneAnnotation) && state.Served != nil && !state.Served[key] && !placed[key] {
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
