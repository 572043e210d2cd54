// SPDX-License-Identifier: Apache-2.0

// Package claims records the objects that selections publish, or are about to publish: it reads which Kustomizations
// have applied them, and lets the ledger decide. It must not know how objects are marked.
package claims

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/ledger"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Claims are the objects that selections publish, or are about to publish. All exported fields but Shards are required.
type Claims struct {
	Ledger         *ledger.Ledger
	Kustomizations *consumers.Kustomizations
	Objects        *live.Objects
	// Selections reads CatalogSelections from the cache of the controller.
	Selections client.Reader
	// Published returns the definitions in the artifact of a selection; nil if they are not known.
	Published func(*v1alpha1.CatalogSelection) ([]safeguard.Definition, error)
	// Outdated reports whether the status of a selection may be older than its artifact, as after a restore.
	Outdated func(context.Context, *v1alpha1.CatalogSelection) bool
	// Enqueue adds selections to the queue.
	Enqueue func(context.Context, ...types.NamespacedName)
	// Shards are the controllers of other selections; nil if this one reconciles all.
	Shards *Shards

	// gone maps types.NamespacedName to the UID of a deleted selection, which the cache may still have.
	gone sync.Map
}

// Others returns the selections besides cs that are not being deleted. They are shared with the cache and must
// not be modified.
func (c *Claims) Others(ctx context.Context, cs *v1alpha1.CatalogSelection) ([]*v1alpha1.CatalogSelection, error) {
	var list v1alpha1.CatalogSelectionList
	if err := c.Selections.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing CatalogSelections: %w", err)
	}
	var others []*v1alpha1.CatalogSelection
	for i := range list.Items {
		other := &list.Items[i]
		gone, _ := c.gone.Load(client.ObjectKeyFromObject(other))
		if other.UID != cs.UID && other.DeletionTimestamp.IsZero() && gone != other.UID {
			others = append(others, other)
		}
	}
	return others, nil
}

// Delete notes that a selection is deleted: the cache may have it for a while.
func (c *Claims) Delete(key types.NamespacedName, uid types.UID) { c.gone.Store(key, uid) }

// Gone notes that the cache no longer has a selection of this name.
func (c *Claims) Gone(key types.NamespacedName) { c.gone.Delete(key) }

// Served returns the live keys of a selection's artifact; none if they are not known, or while the selection
// awaits a consumer. The result is nil for a selection without a record, or whose record is older than its artifact, which
// gives up nothing: its Kustomization may have applied the artifact of an earlier selection of that name.
func (c *Claims) Served(ctx context.Context, cs *v1alpha1.CatalogSelection) inventory.Keys {
	if consumers.Awaited(cs) {
		return nil
	}
	if keys, known := c.Ledger.ServedBy(cs.UID); known {
		return keys
	}
	definitions, _ := c.Published(cs)
	if definitions == nil || c.Outdated(ctx, cs) {
		return nil
	}
	consumed, err := c.Kustomizations.Of(ctx, cs)
	if err != nil {
		return consumers.Consumers{}.LiveKeys(definitions)
	}
	return c.Ledger.Learn(cs.UID, consumed.LiveKeys(definitions))
}

// EnqueueOthers enqueues the selections that serve or render one of the keys.
func (c *Claims) EnqueueOthers(ctx context.Context, cs *v1alpha1.CatalogSelection, changed inventory.Keys) {
	others, err := c.Others(ctx, cs)
	if err != nil {
		if ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "enqueueing other selections")
		}
		return
	}
	var concerned []types.NamespacedName
	for _, other := range others {
		if inventory.Overlap(changed, c.Served(ctx, other)) || inventory.Overlap(changed, c.Ledger.RenderedBy(other.UID)) {
			concerned = append(concerned, client.ObjectKeyFromObject(other))
		}
	}
	c.Enqueue(ctx, concerned...)
}
