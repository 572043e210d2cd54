package cluster

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
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
	name, dormant := client.ObjectKeyFromObject(cs), seen.Dormant(around.Consumers, claimed)
	c.claims.mu.Lock()
	c.reservations(claimant{cs.UID, name, listed, seen, consumers.Home(around.Consumers.Releases(next)), dormant}, claimed, mine, held, rivals)
	c.claims.propose(cs.UID, proposal{name: name, keys: claimed, holders: held}, c.Now())
	admitted := c.claims.admissible()
	if dormant {
		defer c.claims.retract(cs.UID)
	}
	if !admitted[cs.UID] {
		blocking, blocked := c.claims.blocked(cs.UID, admitted)
		if !blocked {
			blocking = c.claims.rivalsOf(cs.UID, admitted)
		}
		c.claims.await(name, blocking)
		c.claims.mu.Unlock()
		return conflict(blocking, false)
	}
	delete(c.claims.waiting, name)
	for key := range claimed {
		if r := c.claims.reserved[key]; !mine[key] && r.uid != cs.UID && !dormant {
			put(&c.claims.reserved, key, reservation{cs.UID, name, c.Now()})
		}
	}
	var together []types.NamespacedName
	for uid := range admitted {
		if p := c.claims.proposed[uid]; uid != cs.UID {
			together = append(together, p.name)
		}
	}
	c.claims.mu.Unlock()
	if len(held) > 0 {
		c.Enqueue(ctx, together...)
	}
	return nil
}

// contenders returns the holders of the claimed keys and the keys of cs itself, both by the owner labels of
// live objects, and the other selections that serve or render one of the keys.
func (c *Cluster) contenders(ctx context.Context, cs *v1alpha1.CatalogSelection, claimed inventory.Keys,
	around *live.Surroundings) (held map[safeguard.Key]holder, mine inventory.Keys, rivals []rival, err error) {
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
	name := client.ObjectKeyFromObject(cs)
	c.claims.mu.Lock()
	defer c.claims.mu.Unlock()
	admitted := c.claims.admissible()
	maps.DeleteFunc(held, func(key safeguard.Key, h holder) bool { return c.claims.released(key, h, admitted) })
	if len(held) == 0 {
		return nil
	}
	c.claims.await(name, held)
	return conflict(held, true)
}
