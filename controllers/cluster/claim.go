package cluster

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Claim claims the keys of a render that has passed the guard and is about to be published. The error is a
// *ConflictError while other owners hold some of them. Selections that give up keys for each other are admitted
// together, and enqueued.
//
// A selection without a Kustomization in this cluster claims nothing, and one whose Kustomizations are suspended and own
// nothing reserves nothing. Reservations are local to this process: other shards do not have them.
func (c *Cluster) Claim(ctx context.Context, cs *v1alpha1.CatalogSelection, around *Surroundings, next []safeguard.Definition) error {
	if !around.Consumers.ActHere() {
		c.Withdraw(ctx, cs)
		return nil
	}
	claimed, listed := around.Consumers.liveKeys(next), c.Now()
	held, mine, rivals, err := c.contenders(ctx, cs, claimed, around)
	if err != nil {
		return err
	}
	seen, err := c.evidenceOf(ctx, cs, around.Consumers, around.live)
	if err != nil {
		return err
	}
	name, dormant := client.ObjectKeyFromObject(cs), around.Consumers.dormant(seen, claimed)
	c.claims.mu.Lock()
	c.reservations(claimant{cs.UID, name, listed, seen, home(around.Consumers.releases(next)), dormant}, claimed, mine, held, rivals)
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

// await records the holders that a selection waits for. The caller holds the lock.
func (c *claims) await(name types.NamespacedName, blocking map[safeguard.Key]holder) {
	w := wait{on: map[types.NamespacedName]bool{}, by: map[types.NamespacedName]bool{}}
	for _, h := range blocking {
		w.on[h.kustomization] = true
		w.by[h.selection] = h.selection.Name != ""
	}
	put(&c.waiting, name, w)
}

// contenders returns the holders of the claimed keys and the keys of cs itself, both by the owner labels of
// live objects, and the other selections that serve or render one of the keys.
func (c *Cluster) contenders(ctx context.Context, cs *v1alpha1.CatalogSelection, claimed Keys,
	around *Surroundings) (held map[safeguard.Key]holder, mine Keys, rivals []rival, err error) {
	others, err := c.others(ctx, cs)
	if err != nil {
		return nil, nil, nil, err
	}
	if held, mine, err = c.owners(ctx, claimed, c.served(ctx, cs), around.live, around.Consumers, others); err != nil {
		return nil, nil, nil, err
	}
	rivals, err = c.rivals(ctx, claimed, around.live, others)
	return held, mine, rivals, err
}

// reservations adds to held the holders of the keys that no Kustomization has applied, or that were given up.
// The caller holds the lock.
func (c *Cluster) reservations(by claimant, claimed, mine Keys, held map[safeguard.Key]holder, rivals []rival) {
	for key := range claimed {
		h, owned := held[key]
		if mine[key] || owned && !c.claims.givesUp(key, h) {
			continue
		}
		next, reserved := c.reservedBy(by, key, rivals)
		switch {
		case reserved && c.claims.served[next.uid][key]:
			held[key] = next // it serves the key already, even if the former holder has not published without it yet
		case owned && !c.claims.gaveUp(key, h):
		case reserved:
			held[key] = next
		default:
			delete(held, key)
		}
	}
}

// reservedBy returns the other selection that has reserved a key, if there is one. Without a reservation, the
// oldest selection that serves the key gets it. The caller holds the lock.
func (c *Cluster) reservedBy(by claimant, key safeguard.Key, rivals []rival) (holder, bool) {
	r, reserved := c.claims.reserved[key]
	if reserved && r.uid == by.uid {
		return holder{}, false
	}
	if reserved && r.since.After(by.listed) {
		return holder{selection: r.name, uid: r.uid}, true // the rivals do not have it yet
	}
	i := slices.IndexFunc(rivals, func(o rival) bool { return o.uid == r.uid || !reserved && o.keys[key] && !o.dormant })
	if !reserved && i < 0 {
		return holder{}, false
	}
	var from rival
	if i >= 0 {
		from = rivals[i]
	}
	if !reserved {
		r = reservation{from.uid, from.selection, c.Now()}
		put(&c.claims.reserved, key, r)
	}
	// It may have published since the rivals were listed.
	asked := from.keys[key] || c.claims.proposed[r.uid].keys[key] || i >= 0 && c.claims.served[r.uid][key]
	if !asked || c.revoke(by, key, r, from) {
		return holder{}, false
	}
	return holder{selection: r.name, uid: r.uid}, true
}

// claimant is a selection that claims keys. Its rivals were listed at the time listed. seen is what its Kustomizations have
// applied, at has the releases that it claims at home, dormant is true if these Kustomizations are all suspended and own
// nothing: then it takes no reservation.
type claimant struct {
	uid     types.UID
	name    types.NamespacedName
	listed  time.Time
	seen    evidence
	at      Keys
	dormant bool
}

// revoke moves a reservation to a claimant from a selection whose Kustomization failed, or did not apply the
// key in time, and reports whether it did. The time is that of the reservation or, if it is longer, that for which the
// claimant has waited for the key: a selection that releases a key and reserves it again gains nothing. A claimant whose
// Kustomization owns a live object of the kind and namespace takes it at once from one that owns none, and any claimant takes it from one
// that is dormant: a reservation costs nothing. A selection that lost one takes none within reservationTimeout, or
// two that both fail would alternate. The caller holds the lock.
func (c *Cluster) revoke(by claimant, key safeguard.Key, r reservation, from rival) bool {
	now := c.Now()
	since := r.since
	if waiting, waits := c.claims.proposed[by.uid].waiting[key]; waits && waiting.Before(since) {
		since = waiting
	}
	squatted := from.dormant || by.seen.ownsLike(key) && !from.seen.ownsLike(key)
	unapplied := !from.seen.has(key, by.at) && (from.failed && from.keys[key] || now.Sub(since) > reservationTimeout)
	if by.dormant || !squatted && (!unapplied || now.Sub(c.claims.revoked[by.uid]) <= reservationTimeout) {
		return false
	}
	put(&c.claims.revoked, r.uid, now)
	put(&c.claims.reserved, key, reservation{by.uid, by.name, now})
	delete(c.claims.proposed, r.uid) // it has to propose again
	return true
}

// Contested returns a *ConflictError if other owners hold live objects that a selection serves: Flux would
// apply both versions in turns, without end. Only live objects count. around is the result of Observe.
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

// NoteRender stores the definitions that a selection renders, whether or not the guard holds them: HandOver of
// another selection keeps those alive. doubt marks a spec that may not select as intended, such as a name
// without a match: while it is new, or the selection is able to apply it, it may receive any definition. It removes the
// objects from status.leaving that are rendered again.
func (c *Cluster) NoteRender(cs *v1alpha1.CatalogSelection, consumed Consumers, next []safeguard.Definition, doubt bool) {
	keys := consumed.liveKeys(next)
	cs.Status.Leaving = withoutRendered(cs.Status.Leaving, keys)
	c.claims.noteRender(cs.UID, cs.Generation, keys, doubt)
	c.claims.age(cs.UID, cs.Generation, c.Now())
}

// Withdraw deletes the proposal of a selection, which is not going to be published.
func (c *Cluster) Withdraw(ctx context.Context, cs *v1alpha1.CatalogSelection) {
	if len(cs.Status.Leaving) == 0 {
		c.claims.stay(cs.UID)
	}
	if c.claims.withdraw(cs.UID, client.ObjectKeyFromObject(cs)) {
		c.enqueueOthers(ctx, cs, c.served(ctx, cs))
	}
}

// Commit stores the definitions that a selection serves from now on, none while it awaits a consumer, and
// enqueues the other selections that serve or render one of the changed ones.
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

// Evaluated records the end of a reconciliation, and enqueues the selections that waited for it.
func (c *Cluster) Evaluated(ctx context.Context, cs *v1alpha1.CatalogSelection) {
	waiting := c.claims.evaluate(cs.UID)
	name := client.ObjectKeyFromObject(cs)
	c.Enqueue(ctx, slices.DeleteFunc(waiting, func(n types.NamespacedName) bool { return n == name })...)
}

// enqueueOthers enqueues the selections that serve or render one of the keys.
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

// overlap reports whether a and b share a key.
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
