package cluster

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/leaving"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// served returns the live keys of a selection's artifact; none if they are not known, or while the selection
// awaits a consumer. The result is nil for a selection without a record, or whose record is older than its artifact, which
// gives up nothing: its Kustomization may have applied the artifact of an earlier selection of that name.
func (c *Cluster) served(ctx context.Context, cs *v1alpha1.CatalogSelection) inventory.Keys {
	if consumers.Awaited(cs) {
		return nil
	}
	if keys, known := c.claims.ServedBy(cs.UID); known {
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
	keys := consumed.LiveKeys(definitions)
	c.claims.Serve(cs.UID, keys)
	return keys
}

// NoteRender stores the definitions that a selection renders, whether or not the guard holds them: HandOver of
// another selection keeps those alive. doubt marks a spec that may not select as intended, such as a name
// without a match: while it is new, or the selection is able to apply it, it may receive any definition. It removes the
// objects from status.leaving that are rendered again.
func (c *Cluster) NoteRender(cs *v1alpha1.CatalogSelection, consumed consumers.Consumers, next []safeguard.Definition, doubt bool) {
	keys := consumed.LiveKeys(next)
	cs.Status.Leaving = leaving.WithoutRendered(cs.Status.Leaving, keys)
	c.claims.NoteRender(cs.UID, cs.Generation, keys, doubt)
	c.claims.Age(cs.UID, cs.Generation, c.Now())
}

// Withdraw deletes the proposal of a selection, which is not going to be published.
func (c *Cluster) Withdraw(ctx context.Context, cs *v1alpha1.CatalogSelection) {
	if len(cs.Status.Leaving) == 0 {
		c.claims.Stay(cs.UID)
	}
	if c.claims.Withdraw(cs.UID, client.ObjectKeyFromObject(cs)) {
		c.enqueueOthers(ctx, cs, c.served(ctx, cs))
	}
}

// Commit stores the definitions that a selection serves from now on, none while it awaits a consumer, and
// enqueues the other selections that serve or render one of the changed ones.
func (c *Cluster) Commit(ctx context.Context, cs *v1alpha1.CatalogSelection, around *live.Surroundings, next []safeguard.Definition) {
	if consumers.Awaited(cs) {
		c.Withdraw(ctx, cs)
		return
	}
	before := c.served(ctx, cs)
	now := around.Consumers.LiveKeys(next)
	c.claims.Serve(cs.UID, now)
	c.claims.Withdraw(cs.UID, client.ObjectKeyFromObject(cs))
	changed := before.Without(now)
	maps.Copy(changed, now.Without(before))
	if len(changed) > 0 {
		c.enqueueOthers(ctx, cs, changed)
	}
}

// Evaluated records the end of a reconciliation, and enqueues the selections that waited for it.
func (c *Cluster) Evaluated(ctx context.Context, cs *v1alpha1.CatalogSelection) {
	waiting := c.claims.Evaluate(cs.UID)
	name := client.ObjectKeyFromObject(cs)
	c.Enqueue(ctx, slices.DeleteFunc(waiting, func(n types.NamespacedName) bool { return n == name })...)
}

// enqueueOthers enqueues the selections that serve or render one of the keys.
func (c *Cluster) enqueueOthers(ctx context.Context, cs *v1alpha1.CatalogSelection, changed inventory.Keys) {
	others, err := c.others(ctx, cs)
	if err != nil {
		if ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "enqueueing other selections")
		}
		return
	}
	var concerned []types.NamespacedName
	for _, other := range others {
		if inventory.Overlap(changed, c.served(ctx, other)) || inventory.Overlap(changed, c.claims.RenderedBy(other.UID)) {
			concerned = append(concerned, client.ObjectKeyFromObject(other))
		}
	}
	c.Enqueue(ctx, concerned...)
}
