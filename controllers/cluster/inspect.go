package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Surroundings is the live state that concerns a selection.
type Surroundings struct {
	Consumers Consumers
	// Staying are the objects that leave the render, and that stay in the artifact, by HandOver.
	Staying []v1alpha1.LeavingStatus

	// live has the metadata of all live definitions of the kinds that the selection renders.
	live []*liveMeta
	// unmarked has the bypassed definitions that could not be marked.
	unmarked map[types.UID]bool
}

// Inspect reads the live state before the next definitions are published. The result is outdated after the
// publication, which sets marks. So Observe lists live definitions once more.
func (c *Cluster) Inspect(ctx context.Context, cs *v1alpha1.CatalogSelection,
	consumed Consumers, next []safeguard.Definition) (*Surroundings, error) {
	around := &Surroundings{Consumers: consumed, unmarked: map[types.UID]bool{}}
	published, _ := c.Published(cs)
	c.inspected.Store(cs.UID, guard.Kinds(next))
	var err error
	around.live, err = c.liveDefinitions(ctx, cs, withLeaving(cs, guard.Kinds(published, next)), true)
	return around, err
}

// Absent returns the kinds that the API server does not serve.
func (c *Cluster) Absent(kinds []schema.GroupVersionKind) ([]schema.GroupVersionKind, error) {
	var absent []schema.GroupVersionKind
	for _, kind := range kinds {
		served, err := c.Kinds.Serves(kind)
		if err != nil {
			return nil, err
		}
		if !served {
			absent = append(absent, kind)
		}
	}
	return absent, nil
}

// MayAct reports whether the artifact of the selection may be applied to this cluster.
func (s *Surroundings) MayAct(cs *v1alpha1.CatalogSelection) bool {
	return s.Consumers.mayActHere() || alwaysServed(cs, s.Consumers)
}

// HaveApplied reports whether a consumer has applied an artifact of Winnow's: its status has a revision, or, because a
// restore may leave that out, live objects have its owner labels and the labels of the selection.
func (s *Surroundings) HaveApplied(cs *v1alpha1.CatalogSelection) bool {
	return slices.ContainsFunc(s.Consumers.items, func(item consumer) bool { return strings.HasPrefix(item.Revision, render.RevisionPrefix) }) ||
		slices.ContainsFunc(s.live, func(object *liveMeta) bool { return appliedBy(cs, object) && s.Consumers.include(ownerOf(object)) })
}

// Observe reads the live state after an attempt to publish a selection.
func (c *Cluster) Observe(ctx context.Context, cs *v1alpha1.CatalogSelection) (*Surroundings, error) {
	c.seen.Store(client.ObjectKeyFromObject(cs), cs.UID) // first of all: an attempt that fails has noted something as well
	consumed, err := c.ConsumersOf(ctx, cs)
	if err != nil {
		return nil, fmt.Errorf("finding the Kustomizations of the artifact: %w", err)
	}
	published, _ := c.Published(cs)
	live, err := c.liveDefinitions(ctx, cs, c.kindsToMark(cs, published), false)
	return &Surroundings{Consumers: consumed, live: live}, err
}

// SyncMarks sets and removes the marks that the published definitions require, whether or not the publication
// is new, and writes its findings into the status. around is the result of Observe. requeueAfter is zero if no
// move is unfinished, and no object waits for one. Errors are temporary.
func (c *Cluster) SyncMarks(ctx context.Context, cs *v1alpha1.CatalogSelection, around *Surroundings) (requeueAfter time.Duration, err error) {
	consumed, live := around.Consumers, around.live
	cs.Status.Consumers = consumed.Statuses()
	published, _ := c.Published(cs)
	before, known := c.claims.servedBy(cs.UID)
	if published != nil && !AwaitsConsumer(cs) && !c.Outdated(ctx, cs) {
		c.claims.serve(cs.UID, consumed.liveKeys(published))
	}
	acts := consumed.action(RevisionOf(cs))
	if acted, looked := c.acted.Swap(cs.UID, acts); acted != acts && (looked || acts.here) {
		c.enqueueOthers(ctx, cs, c.served(ctx, cs))
	} else if known && len(before.without(c.served(ctx, cs))) > 0 {
		c.enqueueOthers(ctx, cs, before)
	}
	bypassed, err := c.markBypassed(ctx, cs, live, consumed)
	if err != nil {
		return 0, err
	}
	moving, err := c.endMoves(ctx, cs, live, consumed)
	if err != nil {
		return 0, err
	}
	unmanaged, err := c.markUnmanaged(ctx, cs, live, consumed)
	if err != nil {
		return 0, err
	}
	c.keepKinds(cs, published, live)
	slices.Sort(bypassed)
	cs.Status.Bypassed = bypassed[:min(len(bypassed), maxBypassed)]
	if cs.Status.Summary != nil {
		cs.Status.Summary.Bypassed = bounds.Count(len(bypassed))
		cs.Status.Summary.Unmanaged = bounds.Count(unmanaged)
	}
	if moving {
		return moveRetry, nil
	}
	return handoverRetry(cs, c.Now()), nil
}

// kindsToMark returns the published kinds, and the kinds published before: the last definition of a kind may
// have left the artifact with a mark.
func (c *Cluster) kindsToMark(cs *v1alpha1.CatalogSelection, published []safeguard.Definition) []schema.GroupVersionKind {
	gvks := withLeaving(cs, guard.Kinds(published))
	for _, gvk := range c.Kinds.Subscriptions(client.ObjectKeyFromObject(cs)) {
		if gvk != kustomizationKind && !slices.Contains(gvks, gvk) {
			gvks = append(gvks, gvk)
		}
	}
	return gvks
}

// keepKinds ends the watches of kinds that the selection neither publishes nor rendered last, once no live
// object of the kind has its labels or a mark: the watches of a catalog with other kinds in each revision must
// not accumulate.
func (c *Cluster) keepKinds(cs *v1alpha1.CatalogSelection, published []safeguard.Definition, live []*liveMeta) {
	kept := append(withLeaving(cs, guard.Kinds(published)), kustomizationKind)
	if inspected, ok := c.inspected.Load(cs.UID); ok {
		kept = append(kept, inspected.([]schema.GroupVersionKind)...)
	}
	for _, object := range live {
		if gvk := object.GroupVersionKind(); (appliedBy(cs, object) || ownsAnyMark(object)) && !slices.Contains(kept, gvk) {
			kept = append(kept, gvk)
		}
	}
	c.Kinds.Keep(client.ObjectKeyFromObject(cs), kept...)
}

func reportError(ctx context.Context, err error, message string) {
	if ctx.Err() == nil {
		ctrl.LoggerFrom(ctx).Error(err, message)
	}
}
