// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/leaving"
	"github.com/winnow-dev/winnow/controllers/cluster/ledger"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Claim claims the keys of a render that has passed the guard and is about to be published. The error is a
// *ConflictError while other owners hold some of them. Selections that give up keys for each other are admitted
// together, and enqueued.
//
// A selection without a Kustomization in this cluster claims nothing, and one whose Kustomizations are suspended and own
// nothing reserves nothing. Reservations are local to this process. For other shards, store writes status.claims.
func (c *Claims) Claim(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State, next []safeguard.Definition,
	store func(ctx context.Context, claims []byte) error) error {
	if !state.Consumers.ActHere() {
		c.Withdraw(ctx, cs)
		return nil
	}
	claimed, listed := state.Consumers.LiveKeys(next), c.Ledger.Now()
	held, mine, rivals, err := c.contenders(ctx, cs, claimed, state)
	if err != nil {
		return err
	}
	seen, err := c.Objects.Evidence(ctx, cs, state.Consumers, state.Live)
	if err != nil {
		return err
	}
	by := ledger.Claimant{
		UID: cs.UID, Name: client.ObjectKeyFromObject(cs), Listed: listed, Seen: seen,
		At: consumers.Home(state.Consumers.Releases(next)), Dormant: seen.Dormant(state.Consumers, claimed),
	}
	entering := c.entering(ctx, cs, claimed, mine)
	for stored := c.Shards == nil || by.Dormant || len(entering) == 0; ; stored = true {
		others, claiming, err := c.elsewhere(ctx, cs, entering, state.Live)
		if err != nil {
			return err
		}
		together, err := c.Ledger.Claim(by, claimed, mine, maps.Clone(held), slices.Concat(rivals, others))
		if err != nil {
			cs.Status.Claims = nil
			return err
		}
		if !stored {
			if err := store(ctx, packed(entering)); err != nil {
				return err
			}
			continue
		}
		if len(claiming) > 0 && !by.Dormant {
			if err := c.Shards.remove(ctx, claiming); err != nil {
				return err
			}
		}
		c.Enqueue(ctx, together...)
		return nil
	}
}

// contenders returns the holders of the claimed keys and the keys of cs itself, both by the owner labels of
// live objects, and the other selections that serve or render one of the keys.
func (c *Claims) contenders(ctx context.Context, cs *v1alpha1.CatalogSelection, claimed inventory.Keys,
	state *live.State) (held map[safeguard.Key]ledger.Holder, mine inventory.Keys, rivals []ledger.Rival, err error) {
	others, err := c.Others(ctx, cs)
	if err != nil {
		return nil, nil, nil, err
	}
	if held, mine, err = c.owners(ctx, claimed, c.Served(ctx, cs), state.Live, state.Consumers, others); err != nil {
		return nil, nil, nil, err
	}
	rivals, err = c.rivals(ctx, claimed, state.Live, others)
	return held, mine, rivals, err
}

// Contested returns a *ConflictError if other owners hold live objects that a selection serves: Flux would
// apply both versions in turns, without end. Only live objects count. state is the result of Observe.
func (c *Claims) Contested(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State) error {
	if !state.Consumers.ActHere() {
		return nil
	}
	served := c.Served(ctx, cs)
	others, err := c.Others(ctx, cs)
	if err != nil {
		return err
	}
	held, _, err := c.owners(ctx, served, served, state.Live, state.Consumers, others)
	if err != nil {
		return err
	}
	return c.Ledger.Contest(cs.UID, client.ObjectKeyFromObject(cs), held)
}

// NoteRender stores the definitions that a selection renders, whether or not the guard holds them: HandOver of
// another selection keeps those alive. doubt marks a spec that may not select as intended, such as a name
// without a match: while it is new, or the selection is able to apply it, it may receive any definition. It removes the
// objects from status.leaving that are rendered again.
func (c *Claims) NoteRender(cs *v1alpha1.CatalogSelection, consumed consumers.Consumers, next []safeguard.Definition, doubt bool) {
	keys := consumed.LiveKeys(next)
	cs.Status.Leaving = leaving.WithoutRendered(cs.Status.Leaving, keys)
	c.Ledger.NoteRender(cs.UID, cs.Generation, keys, doubt)
	c.Ledger.Age(cs.UID, cs.Generation, c.Ledger.Now())
}

// Withdraw deletes the proposal of a selection, which is not going to be published.
func (c *Claims) Withdraw(ctx context.Context, cs *v1alpha1.CatalogSelection) {
	cs.Status.Claims = nil
	if len(cs.Status.Leaving) == 0 {
		c.Ledger.Stay(cs.UID)
	}
	if c.Ledger.Withdraw(cs.UID, client.ObjectKeyFromObject(cs)) {
		c.EnqueueOthers(ctx, cs, c.Served(ctx, cs))
	}
}

// Commit stores the definitions that a selection serves from now on, none while it awaits a consumer, and
// enqueues the other selections that serve or render one of the changed ones.
func (c *Claims) Commit(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State, next []safeguard.Definition) {
	if consumers.Awaited(cs) {
		c.Withdraw(ctx, cs)
		return
	}
	before := c.Served(ctx, cs)
	now := state.Consumers.LiveKeys(next)
	c.Ledger.Resume(cs.UID)
	c.Ledger.Serve(cs.UID, now)
	c.Ledger.Withdraw(cs.UID, client.ObjectKeyFromObject(cs))
	changed := before.Without(now)
	maps.Copy(changed, now.Without(before))
	if len(changed) > 0 {
		c.EnqueueOthers(ctx, cs, changed)
	}
}

// Evaluated records the end of a reconciliation, and enqueues the selections that waited for it.
func (c *Claims) Evaluated(ctx context.Context, cs *v1alpha1.CatalogSelection) {
	waiting := c.Ledger.Evaluate(cs.UID)
	name := client.ObjectKeyFromObject(cs)
	c.Enqueue(ctx, slices.DeleteFunc(waiting, func(n types.NamespacedName) bool { return n == name })...)
}
