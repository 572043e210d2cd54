package cluster

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/ledger"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Claim claims the keys of a render that has passed the guard and is about to be published. The error is a
// *ConflictError while other owners hold some of them. Selections that give up keys for each other are admitted
// together, and enqueued.
//
// A selection without a Kustomization in this cluster claims nothing, and one whose Kustomizations are suspended and own
// nothing reserves nothing. Reservations are local to this process: other shards do not have them.
func (c *Cluster) Claim(ctx context.Context, cs *v1alpha1.CatalogSelection, around *live.Surroundings, next []safeguard.Definition) error {
	if !around.Consumers.ActHere() {
		c.Withdraw(ctx, cs)
		return nil
	}
	claimed, listed := around.Consumers.LiveKeys(next), c.Now()
	held, mine, rivals, err := c.contenders(ctx, cs, claimed, around)
	if err != nil {
		return err
	}
	seen, err := c.Objects.Evidence(ctx, cs, around.Consumers, around.Live)
	if err != nil {
		return err
	}
	by := ledger.Claimant{
		UID: cs.UID, Name: client.ObjectKeyFromObject(cs), Listed: listed, Seen: seen,
		At: consumers.Home(around.Consumers.Releases(next)), Dormant: seen.Dormant(around.Consumers, claimed),
	}
	together, err := c.claims.Claim(by, claimed, mine, held, rivals)
	if err != nil {
		return err
	}
	c.Enqueue(ctx, together...)
	return nil
}

// contenders returns the holders of the claimed keys and the keys of cs itself, both by the owner labels of
// live objects, and the other selections that serve or render one of the keys.
func (c *Cluster) contenders(ctx context.Context, cs *v1alpha1.CatalogSelection, claimed inventory.Keys,
	around *live.Surroundings) (held map[safeguard.Key]ledger.Holder, mine inventory.Keys, rivals []ledger.Rival, err error) {
	others, err := c.others(ctx, cs)
	if err != nil {
		return nil, nil, nil, err
	}
	if held, mine, err = c.owners(ctx, claimed, c.served(ctx, cs), around.Live, around.Consumers, others); err != nil {
		return nil, nil, nil, err
	}
	rivals, err = c.rivals(ctx, claimed, around.Live, others)
	return held, mine, rivals, err
}

// Contested returns a *ConflictError if other owners hold live objects that a selection serves: Flux would
// apply both versions in turns, without end. Only live objects count. around is the result of Observe.
func (c *Cluster) Contested(ctx context.Context, cs *v1alpha1.CatalogSelection, around *live.Surroundings) error {
	if !around.Consumers.ActHere() {
		return nil
	}
	served := c.served(ctx, cs)
	others, err := c.others(ctx, cs)
	if err != nil {
		return err
	}
	held, _, err := c.owners(ctx, served, served, around.Live, around.Consumers, others)
	if err != nil {
		return err
	}
	return c.claims.Contest(client.ObjectKeyFromObject(cs), held)
}
