package cluster

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/evidence"
	"github.com/winnow-dev/winnow/controllers/cluster/leaving"
	"github.com/winnow-dev/winnow/controllers/kinds"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// evidenceOf returns the evidence about the Kustomizations of a selection. live has objects that the caller has listed
// already; the objects of the other kinds that the selection publishes are added. Without the right to read one of
// these kinds, what the Kustomizations report about its objects has to do: two selections that both apply one
// definition would be worse than one that waits.
func (c *Cluster) evidenceOf(ctx context.Context, cs *v1alpha1.CatalogSelection, consumed consumers.Consumers, live []*guard.Live) (evidence.Evidence, error) {
	published, _ := c.Published(cs)
	unread := map[schema.GroupKind]bool{}
	readable := slices.DeleteFunc(c.kindsToMark(cs, published), func(gvk schema.GroupVersionKind) bool {
		_, err := c.Kinds.Look(ctx, c.definitionKind(gvk), client.ObjectKeyFromObject(cs))
		forbidden := errors.Is(err, kinds.ErrForbidden)
		if forbidden {
			unread[gvk.GroupKind()] = true
		}
		return forbidden
	})
	more, err := c.liveDefinitions(ctx, cs, readable, false)
	if err != nil {
		return evidence.Evidence{}, err
	}
	return evidence.In(append(more, live...), consumed, published, unread), nil
}

// kindsToMark returns the published kinds, and the kinds published before: the last definition of a kind may
// have left the artifact with a mark.
func (c *Cluster) kindsToMark(cs *v1alpha1.CatalogSelection, published []safeguard.Definition) []schema.GroupVersionKind {
	gvks := leaving.WithKinds(cs, guard.Kinds(published))
	for _, gvk := range c.Kinds.Subscriptions(client.ObjectKeyFromObject(cs)) {
		if gvk != consumers.KustomizationKind && !slices.Contains(gvks, gvk) {
			gvks = append(gvks, gvk)
		}
	}
	return gvks
}

// keepKinds ends the watches of kinds that the selection neither publishes nor rendered last, once no live
// object of the kind has its labels or a mark: the watches of a catalog with other kinds in each revision must
// not accumulate.
func (c *Cluster) keepKinds(cs *v1alpha1.CatalogSelection, published []safeguard.Definition, live []*guard.Live) {
	kept := append(leaving.WithKinds(cs, guard.Kinds(published)), consumers.KustomizationKind)
	if inspected, ok := c.inspected.Load(cs.UID); ok {
		kept = append(kept, inspected.([]schema.GroupVersionKind)...)
	}
	for _, object := range live {
		if gvk := object.GroupVersionKind(); (guard.AppliedBy(cs, object) || ownsAnyMark(object)) && !slices.Contains(kept, gvk) {
			kept = append(kept, gvk)
		}
	}
	c.Kinds.Keep(client.ObjectKeyFromObject(cs), kept...)
}
