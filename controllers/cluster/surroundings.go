package cluster

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
)

// Surroundings is the live state that concerns a selection.
type Surroundings struct {
	Consumers consumers.Consumers
	// Staying are the objects that leave the render, and that stay in the artifact, by HandOver.
	Staying []v1alpha1.LeavingStatus

	// live has the metadata of all live definitions of the kinds that the selection renders.
	live []*guard.Live
	// unmarked has the bypassed definitions that could not be marked.
	unmarked map[types.UID]bool
}

// MayAct reports whether the artifact of the selection may be applied to this cluster.
func (s *Surroundings) MayAct(cs *v1alpha1.CatalogSelection) bool {
	return s.Consumers.MayActHere() || alwaysServed(cs, s.Consumers)
}

// HaveApplied reports whether a consumer has applied an artifact of Winnow's: its status has a revision, or, because a
// restore may leave that out, live objects have its owner labels and the labels of the selection.
func (s *Surroundings) HaveApplied(cs *v1alpha1.CatalogSelection) bool {
	return slices.ContainsFunc(s.Consumers.Items, func(item consumers.Consumer) bool { return strings.HasPrefix(item.Revision, render.RevisionPrefix) }) ||
		slices.ContainsFunc(s.live, func(object *guard.Live) bool { return guard.AppliedBy(cs, object) && s.Consumers.Include(guard.OwnerOf(object)) })
}

// alwaysServed reports whether the artifact of a selection is served although no Kustomization uses it: another
// client may apply it to this cluster.
func alwaysServed(cs *v1alpha1.CatalogSelection, consumed consumers.Consumers) bool {
	return len(consumed.Items) == 0 && cs.Spec.Cluster.Serve == v1alpha1.ServeAlways
}

// definitionsAmong returns the definitions among live objects. The others are those of instances, which have no bypass.
func definitionsAmong(live []*guard.Live) []*guard.Live {
	return slices.DeleteFunc(slices.Clone(live), func(object *guard.Live) bool { return !guard.LiveKey(object).IsDefinition() })
}
