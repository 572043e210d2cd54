// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"iter"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/kinds"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// State is the live state that concerns a selection.
type State struct {
	Consumers consumers.Consumers
	// Staying are the objects that leave the render, and that HandOver keeps in the artifact.
	Staying []Staying

	// artifact are the definitions in the artifact of the status.
	artifact []safeguard.Definition
	// Published are the definitions of its artifact, and Served their live keys with the keys of releases. Both are nil if they
	// are not known: its Kustomization may have applied the artifact of an earlier selection of that name.
	Published []safeguard.Definition
	Served    inventory.Keys
	// Live has the metadata of the live objects that concern the selection, of the kinds that it renders or publishes, but for the Unread
	// ones, which the controller may not read: its own, what it renders or publishes, and whatever is marked. If it labels unmanaged
	// definitions, all objects concern it.
	Live   []*guard.Live
	Unread map[schema.GroupKind]bool
	// Own are the objects in Live with the labels of the selection, or the owner labels of its consumers of this cluster.
	Own []*guard.Live
	// Unmarked has the bypassed definitions that could not be marked.
	Unmarked map[types.UID]bool

	readers []*kinds.Reader
}

// Staying is an object that leaves the render, that another selection claims, and that Winnow may not mark.
type Staying struct {
	// Key of the live object, and what the artifact has of it.
	Key        safeguard.Key        `json:"key"`
	Definition safeguard.Definition `json:"definition"`
	Receiver   types.NamespacedName `json:"receiver"`
	// Since is when it began to stay.
	Since metav1.Time `json:"since,omitzero"`
	// Moves is true if the receiver claims the object itself, and not another one with its release: Flux may forget it then.
	Moves bool `json:"moves,omitempty"`
}

// Equal reports whether both are the same.
func (s Staying) Equal(other Staying) bool {
	return s.Key == other.Key && s.Receiver == other.Receiver && s.Moves == other.Moves
}

// String states why the object stays, and what ends that.
func (s Staying) String() string {
	if !s.Moves {
		return fmt.Sprintf("%s stays in the artifact, because the CatalogSelection %s has another object with its release, which would be uninstalled "+
			"with it: suspend the live object, and delete it by hand", s.Key.FullName(), s.Receiver)
	}
	return fmt.Sprintf("%s stays in the artifact, because it moves to the CatalogSelection %s and may not be marked, until Flux has applied the annotation %s: %s of the artifact",
		s.Key.FullName(), s.Receiver, guard.PruneAnnotation, guard.Disabled)
}

// OwnedBy returns the live objects of the kinds with the owner labels of Kustomizations that apply to this cluster.
func (s *State) OwnedBy(consumed consumers.Consumers) []*guard.Live {
	return find(s.readers, owners(consumed)...)
}

// MayAct reports whether the artifact of the selection may be applied to this cluster. If it is served although no Kustomization uses
// it, another client may apply it.
func (s *State) MayAct(cs *v1alpha1.CatalogSelection) bool {
	return s.Consumers.MayActHere() || len(s.Consumers.Items) == 0 && cs.Spec.Cluster.Serve == v1alpha1.ServeAlways
}

// HaveApplied reports whether a consumer has applied an artifact of Winnow's, or a part of it: its status has a revision, or,
// because a restore may leave that out, live objects have its owner labels and the labels of the selection.
func (s *State) HaveApplied(cs *v1alpha1.CatalogSelection) bool {
	return slices.ContainsFunc(s.Consumers.Items, func(item consumers.Consumer) bool { return item.HasTried(render.RevisionPrefix) }) ||
		slices.ContainsFunc(s.Own, func(object *guard.Live) bool {
			return guard.AppliedBy(cs, object) && s.Consumers.Include(guard.OwnerOf(object))
		})
}

// Definitions returns the definitions among live objects. Objects of instances, which have no bypass, are left out.
func Definitions(live []*guard.Live) iter.Seq[*guard.Live] {
	return func(yield func(*guard.Live) bool) {
		for _, object := range live {
			if (safeguard.Key{Kind: object.Kind}).IsDefinition() && !yield(object) {
				return
			}
		}
	}
}

// Inspect reads the live state before the next definitions are published. published are the definitions in the artifact of the status, nil
// if they are not known, and isOld is true if the status is older than what was
// published. The result is outdated after the publication, which sets marks. So Observe lists live definitions once more.
func (o *Objects) Inspect(ctx context.Context, cs *v1alpha1.CatalogSelection, consumed consumers.Consumers, isOld bool, published, next []safeguard.Definition) (*State, error) {
	o.inspected.Store(cs.UID, guard.Kinds(next))
	var placed []safeguard.Definition // by an earlier release
	for _, l := range cs.Status.Leaving {
		placed = append(placed, safeguard.Definition{APIVersion: l.APIVersion, Kind: l.Kind, Namespace: l.Namespace, Name: l.Name})
	}
	return o.state(ctx, cs, consumed, isOld, published, next, guard.Kinds(published, next, placed), true)
}

// Observe reads the live state after an attempt to publish a selection: see Inspect.
func (o *Objects) Observe(ctx context.Context, cs *v1alpha1.CatalogSelection, consumed consumers.Consumers, isOld bool, published []safeguard.Definition) (*State, error) {
	return o.state(ctx, cs, consumed, isOld, published, nil, o.kindsToMark(cs, published), false)
}

func (o *Objects) state(ctx context.Context, cs *v1alpha1.CatalogSelection, consumed consumers.Consumers, isOld bool,
	published, next []safeguard.Definition, gvks []schema.GroupVersionKind, fresh bool) (*State, error) {
	state := &State{Consumers: consumed, artifact: published, Unmarked: map[types.UID]bool{}, Unread: map[schema.GroupKind]bool{}}
	// The record does not know the placeholders that an earlier release has put into the artifact.
	if published != nil && !isOld && !consumers.Awaited(cs) && len(cs.Status.Leaving) == 0 {
		state.Published, state.Served = published, consumed.LiveKeys(published)
	}
	var err error
	if fresh && state.Served == nil {
		if gvks, err = o.withApplied(ctx, consumed, gvks); err != nil {
			return nil, err
		}
	}
	if state.readers, err = o.readers(ctx, cs, gvks, fresh, state.Unread); err != nil {
		return nil, err
	}
	values := []string{anything}
	if cs.Spec.Cluster.Unmanaged != v1alpha1.UnmanagedLabelled {
		values = append(owners(consumed), selectedBy(cs.Namespace, cs.Name), marked)
		for _, definitions := range [][]safeguard.Definition{published, next} {
			for key := range consumed.LiveKeys(definitions) {
				values = append(values, named(key))
			}
		}
	}
	state.Live = find(state.readers, values...)
	state.Own = each.Where(state.Live, func(object *guard.Live) bool {
		return guard.AppliedBy(cs, object) || consumed.Include(guard.OwnerOf(object))
	})
	return state, nil
}
