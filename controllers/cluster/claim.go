package cluster

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Claim asks for the keys of a render that has passed the guard and is about to be published. The
// error is a *ConflictError while others hold some of them. Selections that give each other what they
// want are admitted together, and enqueued.
//
// A selection that does not act here claims nothing. Reservations are those of this process: another shard
// does not know them.
func (c *Cluster) Claim(ctx context.Context, cs *v1alpha1.CatalogSelection, around *Surroundings, next []safeguard.Definition) error {
	if !around.Consumers.ActHere() {
		c.Withdraw(ctx, cs)
		return nil
	}
	wanted := around.Consumers.liveKeys(next)
	held, mine, rivals, err := c.contenders(ctx, cs, wanted, around)
	if err != nil {
		return err
	}
	name := client.ObjectKeyFromObject(cs)
	c.claims.mu.Lock()
	c.reservations(claimant{cs.UID, name, around.Consumers.idle()}, wanted, mine, held, rivals)
	c.claims.propose(cs.UID, proposal{name: name, keys: wanted, holders: held})
	admitted := c.claims.admissible()
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
	for key := range wanted {
		if r := c.claims.reserved[key]; !mine[key] && r.uid != cs.UID {
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

// await notes whom a selection waits for. The lock is held.
func (c *claims) await(name types.NamespacedName, blocking map[safeguard.Key]holder) {
	w := wait{on: map[types.NamespacedName]bool{}, by: map[types.NamespacedName]bool{}}
	for _, h := range blocking {
		w.on[h.kustomization] = true
		w.by[h.selection] = h.selection.Name != ""
	}
	put(&c.waiting, name, w)
}

// contenders returns who holds the keys by what Flux wrote on live objects, which of them are those
// of cs in this way, and who else serves them.
func (c *Cluster) contenders(ctx context.Context, cs *v1alpha1.CatalogSelection, wanted Keys,
	around *Surroundings) (held map[safeguard.Key]holder, mine Keys, rivals []rival, err error) {
	others, err := c.others(ctx, cs)
	if err != nil {
		return nil, nil, nil, err
	}
	if held, mine, err = c.owners(ctx, wanted, c.served(ctx, cs), around.live, around.Consumers, others); err != nil {
		return nil, nil, nil, err
	}
	rivals, err = c.rivals(ctx, wanted, others)
	return held, mine, rivals, err
}

// reservations adds to held the holders of the keys that no Kustomization has applied, or whose holder gave them
// up. The lock is held.
func (c *Cluster) reservations(by claimant, wanted, mine Keys, held map[safeguard.Key]holder, rivals []rival) {
	for key := range wanted {
		h, owned := held[key]
		if mine[key] || owned && !c.claims.givesUp(key, h) {
			continue
		}
		next, reserved := c.reservedBy(by, key, rivals)
		switch {
		case reserved && c.claims.served[next.uid][key]:
			held[key] = next // another one has it already, though its holder may not have published without it
		case owned && !c.claims.gaveUp(key, h):
		case reserved:
			held[key] = next
		default:
			delete(held, key)
		}
	}
}

// reservedBy returns the other selection that has reserved a key, if there is one. The oldest one that
// serves it has, where that is not known. The lock is held.
func (c *Cluster) reservedBy(by claimant, key safeguard.Key, rivals []rival) (holder, bool) {
	r, reserved := c.claims.reserved[key]
	if reserved && r.uid == by.uid {
		return holder{}, false
	}
	i := slices.IndexFunc(rivals, func(o rival) bool { return o.keys[key] && (!reserved || o.uid == r.uid) })
	if i < 0 {
		// It may have published since the rivals were looked up.
		acts := slices.ContainsFunc(rivals, func(o rival) bool { return o.uid == r.uid })
		asked := c.claims.proposed[r.uid].keys[key] || acts && c.claims.served[r.uid][key]
		return holder{selection: r.name, uid: r.uid}, reserved && asked
	}
	if !reserved {
		r = reservation{rivals[i].uid, rivals[i].selection, c.Now()}
		put(&c.claims.reserved, key, r)
	}
	return holder{selection: rivals[i].selection, uid: rivals[i].uid}, !c.revoke(by, key, r, rivals[i])
}

// claimant is who asks for keys; idle, if its Kustomizations never applied anything.
type claimant struct {
	uid  types.UID
	name types.NamespacedName
	idle bool
}

// revoke takes a reservation from a selection whose Kustomization failed, or did not apply it in time,
// and reports whether it did. Who has applied something takes it at once from who never did: names cost
// nothing. Who lost one by failure or time takes none in the same time, or two that both fail would take
// turns. The lock is held.
func (c *Cluster) revoke(by claimant, key safeguard.Key, r reservation, from rival) bool {
	now := c.Now()
	squatted := from.idle && !by.idle
	unapplied := !from.applied && (from.failed || now.Sub(r.since) > reservationTimeout)
	if !squatted && (!unapplied || now.Sub(c.claims.revoked[by.uid]) <= reservationTimeout) {
		return false
	}
	put(&c.claims.revoked, r.uid, now)
	put(&c.claims.reserved, key, reservation{by.uid, by.name, now})
	return true
}

// Contested returns a *ConflictError when what a selection serves lives and is held by others: both would
// have Flux apply theirs, in turns and without end. Only live objects count. around is what Observe returned.
func (c *Cluster) Contested(ctx context.Context, cs *v1alpha1.CatalogSelection, around *Surroundings) error {
	if !around.Consumers.ActHere() {
		return nil
	}
	served := c.served(ctx, cs)
	others, err := c.others(ctx, cs)
	if err != nil {
		return err
	}
	held, _, err := c.owners(ctx, served, served, around.live, around.Consumers, others)
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

// NoteRender notes what a selection renders, whether or not the guard will hold it: what another one gives up
// meanwhile is kept alive for it. Of a spec with a doubt, such as a name that matches nothing, everything may
// be wanted while it is new.
func (c *Cluster) NoteRender(cs *v1alpha1.CatalogSelection, consumed Consumers, next []safeguard.Definition, doubt bool) {
	c.claims.noteRender(cs.UID, cs.Generation, consumed.liveKeys(next), doubt)
	c.claims.age(cs.UID, cs.Generation, c.Now())
}

// Withdraw ends what a selection proposed: it is not going to publish that.
func (c *Cluster) Withdraw(ctx context.Context, cs *v1alpha1.CatalogSelection) {
	if c.claims.withdraw(cs.UID, client.ObjectKeyFromObject(cs)) {
		c.enqueueOthers(ctx, cs, c.served(ctx, cs))
	}
}

// Commit notes what a selection serves from now on, nothing until a consumer was compared, and enqueues the
// others that this concerns.
func (c *Cluster) Commit(ctx context.Context, cs *v1alpha1.CatalogSelection, around *Surroundings, next []safeguard.Definition) {
	if AwaitsConsumer(cs) {
		c.Withdraw(ctx, cs)
		return
	}
	before := c.served(ctx, cs)
	now := around.Consumers.liveKeys(next)
	c.claims.serve(cs.UID, now)
	c.claims.withdraw(cs.UID, client.ObjectKeyFromObject(cs))
	changed := before.without(now)
	maps.Copy(changed, now.without(before))
	if len(changed) > 0 {
		c.enqueueOthers(ctx, cs, changed)
	}
}

// Evaluated notes that a reconciliation of a selection has ended.
func (c *Cluster) Evaluated(ctx context.Context, cs *v1alpha1.CatalogSelection) {
	waiting := c.claims.evaluate(cs.UID)
	name := client.ObjectKeyFromObject(cs)
	c.Enqueue(ctx, slices.DeleteFunc(waiting, func(n types.NamespacedName) bool { return n == name })...)
}

// enqueueOthers enqueues the selections that serve, or render, one of the keys.
func (c *Cluster) enqueueOthers(ctx context.Context, cs *v1alpha1.CatalogSelection, changed Keys) {
	others, err := c.others(ctx, cs)
	if err != nil {
		reportError(ctx, err, "enqueueing other selections")
		return
	}
	var concerned []types.NamespacedName
	for _, other := range others {
		if overlap(changed, c.served(ctx, other)) || overlap(changed, c.claims.renderedBy(other.UID)) {
			concerned = append(concerned, client.ObjectKeyFromObject(other))
		}
	}
	c.Enqueue(ctx, concerned...)
}

func (c *claims) renderedBy(uid types.UID) Keys {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.renders[uid].keys
}

// overlap reports whether both have a key.
func overlap(a, b Keys) bool {
	if len(b) < len(a) {
		a, b = b, a
	}
	for key := range a {
		if b[key] {
			return true
		}
	}
	return false
}
