// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"context"
	"fmt"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/ledger"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// owners returns, of the claimed keys, the holders of live objects with the owner labels of other
// Kustomizations, and the keys with those of a consumer of cs. It reads the inventory of the Kustomization,
// except for the keys that cs serves.
func (c *Claims) owners(ctx context.Context, claimed, served inventory.Keys, live []*guard.Live, consumed consumers.Consumers,
	others []*v1alpha1.CatalogSelection) (held map[safeguard.Key]ledger.Holder, mine inventory.Keys, err error) {
	held, mine = map[safeguard.Key]ledger.Holder{}, inventory.Keys{}
	inventories := map[types.NamespacedName]*kustomizev1.Kustomization{}
	entries := map[types.NamespacedName]inventory.Keys{}
	for _, object := range live {
		key, owner := guard.LiveKey(object), guard.OwnerOf(object)
		own := consumed.Include(owner)
		if !claimed[key] || owner.Name == "" {
			continue
		}
		if own && served[key] {
			mine[key] = true
			continue
		}
		ks, known := inventories[owner]
		if !known {
			if ks, err = c.Kustomizations.Get(ctx, owner); err != nil {
				return nil, nil, err
			}
			inventories[owner] = ks
			if ks != nil {
				entries[owner] = inventory.Of(ks)
			}
		}
		switch {
		case ks == nil || ks.Spec.KubeConfig != nil || !entries[owner][key]:
		case own:
			mine[key] = true
		default:
			held[key] = c.holderOf(ctx, ks, others)
		}
	}
	return held, mine, nil
}

// holderOf returns a Kustomization as a holder, with the selection behind it. The ledger has what that selection serves then: after
// a restart, it may have given up the key long ago.
func (c *Claims) holderOf(ctx context.Context, ks *kustomizev1.Kustomization, others []*v1alpha1.CatalogSelection) ledger.Holder {
	h := ledger.Holder{Kustomization: client.ObjectKeyFromObject(ks), Source: fmt.Sprintf("%s %s", ks.Spec.SourceRef.Kind, ks.Spec.SourceRef.Name)}
	for _, text := range consumers.ConsumedArtifact(ks) {
		for _, other := range others {
			if name := client.ObjectKeyFromObject(other); name.String() == text {
				h.Selection, h.UID = name, other.UID
				c.Served(ctx, other)
			}
		}
	}
	return h
}

// rivals returns the other selections with a Kustomization in this cluster that serve or render one of the
// keys, the oldest first.
func (c *Claims) rivals(ctx context.Context, claimed inventory.Keys, live []*guard.Live, others []*v1alpha1.CatalogSelection) ([]ledger.Rival, error) {
	var rivals []ledger.Rival
	slices.SortFunc(others, byAge)
	for _, other := range others {
		r := ledger.Rival{UID: other.UID, Selection: client.ObjectKeyFromObject(other), Keys: inventory.Keys{},
			Yields: other.Status.Withheld == v1alpha1.ConflictReason}
		for key := range c.Served(ctx, other) {
			if claimed[key] {
				r.Keys[key] = true
			}
		}
		if len(r.Keys) == 0 && !inventory.Overlap(claimed, c.Ledger.RenderedBy(other.UID)) {
			continue
		}
		theirs, err := c.Kustomizations.Of(ctx, other)
		if err != nil {
			return nil, err
		}
		if !theirs.ActHere() {
			continue
		}
		if r.Seen, err = c.Objects.Evidence(ctx, other, theirs, live); err != nil {
			return nil, err
		}
		r.Dormant = r.Seen.Dormant(theirs, claimed)
		for _, item := range theirs.Naming() {
			r.Failed = r.Failed || item.Failed
		}
		rivals = append(rivals, r)
	}
	return rivals, nil
}

// byAge orders selections by creation time, and those of the same second by name.
func byAge(a, b *v1alpha1.CatalogSelection) int {
	if order := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); order != 0 {
		return order
	}
	return consumers.CompareNames(client.ObjectKeyFromObject(a), client.ObjectKeyFromObject(b))
}
