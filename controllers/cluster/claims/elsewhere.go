// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/ledger"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// elsewhere returns the selections of other shards that publish or claim one of the entering keys, and those that claim one. One
// that has come to this shard is of another one until the cache has it.
func (c *Claims) elsewhere(ctx context.Context, cs *v1alpha1.CatalogSelection, entering inventory.Keys,
	live []*guard.Live) (rivals []ledger.Rival, claiming []*v1alpha1.CatalogSelection, err error) {
	if c.Shards == nil || len(entering) == 0 {
		return nil, nil, nil
	}
	here, err := c.Others(ctx, cs)
	if err != nil {
		return nil, nil, err
	}
	cached := map[types.UID]bool{}
	for _, other := range here {
		cached[other.UID] = true
	}
	own := among(entering, cs.Status.Claims)
	err = c.Shards.each(ctx, func(other *v1alpha1.CatalogSelection) error {
		if other.UID == cs.UID || cached[other.UID] && c.Shards.Own.Matches(labels.Set(other.Labels)) {
			return nil
		}
		proposed := inventory.Keys{}
		if !other.Spec.Suspend { // what it was about to publish fails now, by the resource version
			proposed = among(entering, other.Status.Claims)
		}
		if len(proposed) > 0 {
			claiming = append(claiming, other.DeepCopy())
		}
		if byAge(cs, other) < 0 {
			proposed = proposed.Without(own)
		}
		rival, err := c.rivalElsewhere(ctx, other, entering, proposed, live)
		if rival != nil {
			rivals = append(rivals, *rival)
		}
		return err
	})
	return rivals, claiming, err
}

// rivalElsewhere returns a selection of another shard with the entering keys that it publishes, nil if it neither publishes nor
// proposes one. Its status names its Kustomizations before it publishes: the watch of this process may not have them yet.
func (c *Claims) rivalElsewhere(ctx context.Context, other *v1alpha1.CatalogSelection, entering, proposed inventory.Keys,
	live []*guard.Live) (*ledger.Rival, error) {
	r := &ledger.Rival{UID: other.UID, Selection: client.ObjectKeyFromObject(other), Keys: inventory.Keys{}, Proposed: proposed, Elsewhere: true}
	theirs, err := c.Kustomizations.Of(ctx, other)
	if err != nil {
		return nil, err
	}
	known := theirs.ActHere()
	actsHere := known || slices.ContainsFunc(other.Status.Consumers, func(item v1alpha1.ConsumerStatus) bool { return !item.Remote })
	if actsHere && other.Status.Withheld == "" { // only then: of thousands of selections, unpacking the records takes most of the time
		published, _ := c.Published(other)
		maps.Copy(r.Keys, theirs.LiveKeys(published))
		maps.DeleteFunc(r.Keys, func(key safeguard.Key, _ bool) bool { return !entering[key] })
	}
	if len(r.Keys)+len(proposed) == 0 {
		return nil, nil
	}
	if r.Seen, err = c.Objects.Evidence(ctx, other, theirs, live); err != nil {
		return nil, err
	}
	r.Dormant = known && r.Seen.Dormant(theirs, entering)
	r.Failed = known && slices.ContainsFunc(theirs.Naming(), func(item consumers.Consumer) bool { return item.Failed })
	return r, nil
}

// entering returns the claimed keys that the selection neither publishes nor has applied.
func (c *Claims) entering(ctx context.Context, cs *v1alpha1.CatalogSelection, claimed, mine inventory.Keys) inventory.Keys {
	entering := claimed.Without(mine)
	if cs.Status.Withheld == "" {
		entering = entering.Without(c.Served(ctx, cs))
	}
	return entering
}
