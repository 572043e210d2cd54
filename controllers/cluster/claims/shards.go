// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Shards are the other controllers that reconcile selections of this cluster. They share no memory. Whoever publishes an
// object that does not live writes status.claims first, and then reads what the selections of the others publish and claim:
// of two, the one that writes later sees the other one.
//
//	the selection of the other shard       the object
//	publishes it                           is that of the other shard
//	claims it, before this one does        is that of the other shard
//	claims it as well, and is older        is that of the other shard
//	claims it as well, and is younger      is that of this one, which removes the other claim
//
// The ledger treats the other selection as one of this process: a failure, or ten minutes, end what it has claimed. A claim
// that was removed changes the resource version, so that its owner cannot publish by it.
type Shards struct {
	// Client writes statuses, with the field owner of the controller, and Reader reads past the cache.
	Client client.Client
	Reader client.Reader
	// Own selects the selections of this controller, in the Namespace or, if it is empty, in all.
	Own       labels.Selector
	Namespace string
}

// shardPage is the number of selections that are read at once: a status may have some hundred KiB.
const shardPage = 50

// each calls f for each selection that is not being deleted, read past the cache.
func (s *Shards) each(ctx context.Context, f func(*v1alpha1.CatalogSelection) error) error {
	var list v1alpha1.CatalogSelectionList
	for {
		err := s.Reader.List(ctx, &list, client.InNamespace(s.Namespace), client.Limit(shardPage), client.Continue(list.Continue))
		if err != nil {
			return fmt.Errorf("listing the CatalogSelections of all shards: %w", err)
		}
		for i := range list.Items {
			if other := &list.Items[i]; other.DeletionTimestamp.IsZero() {
				if err := f(other); err != nil {
					return err
				}
			}
		}
		if list.Continue == "" {
			return nil
		}
		list.Items = nil
	}
}

// remove removes the claims of selections of other shards. The error is a conflict if one was published meanwhile.
func (s *Shards) remove(ctx context.Context, claiming []*v1alpha1.CatalogSelection) error {
	for _, other := range claiming {
		before := other.DeepCopy()
		other.Status.Claims = nil
		err := s.Client.Status().Patch(ctx, other, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("removing the claims of the CatalogSelection %s of another shard: %w", client.ObjectKeyFromObject(other), err)
		}
	}
	return nil
}

// claimSize is the number of bytes of a key in status.claims.
const claimSize = 8

func digest(key safeguard.Key) string {
	sum := sha256.Sum256([]byte(key.String()))
	return string(sum[:claimSize])
}

// packed returns keys in the form of status.claims.
func packed(keys inventory.Keys) []byte {
	var claims []byte
	digests := make([]string, 0, len(keys))
	for key := range keys {
		digests = append(digests, digest(key))
	}
	slices.Sort(digests)
	for _, sum := range digests {
		claims = append(claims, sum...)
	}
	return claims
}

// among returns the keys that status.claims has.
func among(keys inventory.Keys, claims []byte) inventory.Keys {
	found := inventory.Keys{}
	if len(claims) < claimSize {
		return found
	}
	digests := map[string]bool{}
	for sum := range slices.Chunk(claims, claimSize) {
		digests[string(sum)] = true
	}
	for key := range keys {
		if digests[digest(key)] {
			found[key] = true
		}
	}
	return found
}
