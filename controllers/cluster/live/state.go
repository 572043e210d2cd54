// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/leaving"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// State is the live state that concerns a selection.
type State struct {
	Consumers consumers.Consumers
	// Staying are the objects that leave the render, and that HandOver keeps in the artifact.
	Staying []v1alpha1.LeavingStatus

	// Live has the metadata of all live definitions of the kinds that the selection renders.
	Live []*guard.Live
	// Unmarked has the bypassed definitions that could not be marked.
	Unmarked map[types.UID]bool
}

// MayAct reports whether the artifact of the selection may be applied to this cluster.
func (s *State) MayAct(cs *v1alpha1.CatalogSelection) bool {
	return s.Consumers.MayActHere() || alwaysServed(cs, s.Consumers)
}

// HaveApplied reports whether a consumer has applied an artifact of Winnow's, or a part of it: its status has a revision, or,
// because a restore may leave that out, live objects have its owner labels and the labels of the selection.
func (s *State) HaveApplied(cs *v1alpha1.CatalogSelection) bool {
	return slices.ContainsFunc(s.Consumers.Items, func(item consumers.Consumer) bool { return item.HasTried(render.RevisionPrefix) }) ||
		slices.ContainsFunc(s.Live, func(object *guard.Live) bool {
			return guard.AppliedBy(cs, object) && s.Consumers.Include(guard.OwnerOf(object))
		})
}

// alwaysServed reports whether the artifact of a selection is served although no Kustomization uses it: another
// client may apply it to this cluster.
func alwaysServed(cs *v1alpha1.CatalogSelection, consumed consumers.Consumers) bool {
	return len(consumed.Items) == 0 && cs.Spec.Cluster.Serve == v1alpha1.ServeAlways
}

// Definitions returns the definitions among live objects. The others are those of instances, which have no bypass.
func Definitions(live []*guard.Live) []*guard.Live {
	return slices.DeleteFunc(slices.Clone(live), func(object *guard.Live) bool { return !guard.LiveKey(object).IsDefinition() })
}

// Inspect reads the live state before the next definitions are published. The result is outdated after the
// publication, which sets marks. So Observe lists live definitions once more.
func (o *Objects) Inspect(ctx context.Context, cs *v1alpha1.CatalogSelection,
	consumed consumers.Consumers, next []safeguard.Definition) (*State, error) {
	state := &State{Consumers: consumed, Unmarked: map[types.UID]bool{}}
	published, _ := o.Published(cs)
	o.inspected.Store(cs.UID, guard.Kinds(next))
	var err error
	state.Live, err = o.list(ctx, cs, leaving.WithKinds(cs, guard.Kinds(published, next)), true)
	return state, err
}

// Observe reads the live state after an attempt to publish a selection.
func (o *Objects) Observe(ctx context.Context, cs *v1alpha1.CatalogSelection, consumed consumers.Consumers) (*State, error) {
	published, _ := o.Published(cs)
	live, err := o.list(ctx, cs, o.kindsToMark(cs, published), false)
	return &State{Consumers: consumed, Live: live}, err
}
