package cluster

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/leaving"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

const (
	// reservationTimeout is the time after which a reservation of a key that the Kustomization of the selection
	// does not apply may be revoked.
	reservationTimeout = 10 * time.Minute
	// runningTimeout is the part of leaving.Timeout for which a process has to run: a receiver does nothing while no
	// controller runs.
	runningTimeout = leaving.Timeout / 2
	// barrierTimeout bounds the wait for the evaluation of other selections.
	barrierTimeout = 30 * time.Second
)

// claims maps live keys to selections, as far as this process decides it. The owner labels of live objects take
// precedence; see holders.go. The zero value is empty.
type claims struct {
	mu sync.Mutex
	// served maps a selection to the live keys of its artifact.
	served map[types.UID]inventory.Keys
	// renders maps a selection to its latest render.
	renders map[types.UID]rendered
	// proposed maps a selection to its latest render that has passed the guard, until it is published.
	proposed map[types.UID]proposal
	// lastSequence is the sequence of the latest new proposal.
	lastSequence uint64
	// reserved maps a key that no Kustomization has applied to the selection that may publish it.
	reserved map[safeguard.Key]reservation
	// revoked maps a selection to the time when it lost a reservation.
	revoked map[types.UID]time.Time
	// tick counts evaluations; evaluated maps a selection to the tick of its last one.
	tick      uint64
	evaluated map[types.UID]uint64
	// leaving maps a selection to the tick when it was first about to publish without some keys.
	leaving map[types.UID]departed
	// waiting maps each selection that waits to the owners and evaluations that it waits for.
	waiting map[types.NamespacedName]wait
}

// rendered describes the last renders of a selection, whether or not the guard holds them. Each part may be of
// another generation.
type rendered struct {
	// keys are the live keys of the latest render, nil before the first one, and generation is the generation
	// of its spec.
	keys       inventory.Keys
	generation int64
	// uncertain is the latest generation that may not select as intended; generations begin with 1.
	uncertain int64
	// seen is the latest generation, and since is the time when it was seen first.
	seen  int64
	since time.Time
}

type reservation struct {
	uid   types.UID
	name  types.NamespacedName
	since time.Time
}

type departed struct {
	keys inventory.Keys
	tick uint64
	seen time.Time
}

type wait struct {
	// on has the Kustomizations, and by the selections, whose changes end the wait.
	on, by map[types.NamespacedName]bool
	// pending has the selections that have to be evaluated.
	pending map[types.UID]bool
}

// put sets a value in a map that may be nil.
func put[K comparable, V any](in *map[K]V, key K, value V) {
	if *in == nil {
		*in = map[K]V{}
	}
	(*in)[key] = value
}

func (c *claims) forget(uid types.UID, name types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, name)
	delete(c.served, uid)
	delete(c.renders, uid)
	delete(c.proposed, uid)
	delete(c.revoked, uid)
	delete(c.evaluated, uid)
	delete(c.leaving, uid)
	for key, r := range c.reserved {
		if r.uid == uid {
			delete(c.reserved, key)
		}
	}
}

func (c *claims) servedBy(uid types.UID) (inventory.Keys, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys, known := c.served[uid]
	return keys, known
}

// serve replaces the live keys of a selection's artifact.
func (c *claims) serve(uid types.UID, keys inventory.Keys) {
	c.mu.Lock()
	defer c.mu.Unlock()
	put(&c.served, uid, keys)
	maps.DeleteFunc(c.reserved, func(key safeguard.Key, r reservation) bool {
		return r.uid == uid && !keys[key] && !c.proposed[uid].keys[key]
	})
}

// noteRender stores the keys that a selection renders. A doubt persists for the generation.
func (c *claims) noteRender(uid types.UID, generation int64, keys inventory.Keys, doubt bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.renders[uid]
	w.keys, w.generation = keys, generation
	if doubt {
		w.uncertain = generation
	}
	put(&c.renders, uid, w)
}

// doubts reports whether a generation of a selection may not select as intended.
func (c *claims) doubts(uid types.UID, generation int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.renders[uid].uncertain == generation
}

// latest returns the keys that a selection renders, or else serves, and whether they are of this generation.
func (c *claims) latest(uid types.UID, generation int64) (inventory.Keys, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.renders[uid]; w.keys != nil {
		return w.keys, w.generation == generation
	}
	return c.served[uid], false
}

// age returns how long this process has known a generation of a selection.
func (c *claims) age(uid types.UID, generation int64, now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.renders[uid]
	if w.since.IsZero() || w.seen != generation {
		w.seen, w.since = generation, now
		put(&c.renders, uid, w)
	}
	return now.Sub(w.since)
}

// hasRendered reports whether a selection renders a key.
func (c *claims) hasRendered(uid types.UID, key safeguard.Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.renders[uid].keys[key]
}

// holds reports whether no other selection has reserved a key.
func (c *claims) holds(uid types.UID, key safeguard.Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, reserved := c.reserved[key]
	return !reserved || r.uid == uid
}

// withdraw ends the proposal of a selection and reports whether it had one.
func (c *claims) withdraw(uid types.UID, name types.NamespacedName) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, had := c.proposed[uid]
	delete(c.proposed, uid)
	delete(c.waiting, name)
	return had
}

// stay forgets that a selection was about to publish without some keys.
func (c *claims) stay(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.leaving, uid)
}

// waitingFor returns the selections that wait for a Kustomization, or for the selection whose artifact it
// applies.
func (c *claims) waitingFor(ks, selection types.NamespacedName) []types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []types.NamespacedName
	for name, w := range c.waiting {
		if w.on[ks] || w.by[selection] {
			names = append(names, name)
		}
	}
	return names
}

// evaluate records that a selection was evaluated, and returns the selections that waited for it.
func (c *claims) evaluate(uid types.UID) []types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tick++
	put(&c.evaluated, uid, c.tick)
	var names []types.NamespacedName
	for name, w := range c.waiting {
		if w.pending[uid] {
			names = append(names, name)
		}
	}
	return names
}

func (c *claims) renderedBy(uid types.UID) inventory.Keys {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.renders[uid].keys
}

// depart returns the tick at which a selection was about to publish without exactly these objects for the first time, and
// the time at which it was about to give up any, as far as this process knows.
func (c *claims) depart(uid types.UID, objects map[safeguard.Key]*guard.Live, now time.Time) (uint64, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last, known := c.leaving[uid]
	if !known || len(last.keys) != len(objects) || len(last.keys.Without(keysOf(objects))) > 0 {
		if !known {
			last.seen = now
		}
		last.keys, last.tick = keysOf(objects), c.tick
		put(&c.leaving, uid, last)
	}
	return last.tick, last.seen
}

// awaitEvaluation returns the selections that were not evaluated since the tick, and makes name wait for them.
func (c *claims) awaitEvaluation(name types.NamespacedName, tick uint64, others []*v1alpha1.CatalogSelection) []types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	var pending []types.NamespacedName
	uids := map[types.UID]bool{}
	for _, other := range others {
		if !other.Spec.Suspend && c.evaluated[other.UID] <= tick {
			pending, uids[other.UID] = append(pending, client.ObjectKeyFromObject(other)), true
		}
	}
	if len(pending) > 0 {
		w := c.waiting[name]
		w.pending = uids
		put(&c.waiting, name, w)
	}
	return pending
}

// evaluatedSince reports whether a selection was evaluated after a tick.
func (c *claims) evaluatedSince(uid types.UID, tick uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.evaluated[uid] > tick
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

// propose stores the proposal of a selection. A selection that proposes again keeps its position, and the times for
// which it has waited.
func (c *claims) propose(uid types.UID, p proposal, now time.Time) {
	last, ok := c.proposed[uid]
	if ok {
		p.sequence = last.sequence
	} else {
		c.lastSequence++
		p.sequence = c.lastSequence
	}
	for key := range p.holders {
		since, waits := last.waiting[key]
		if !waits {
			since = now
		}
		put(&p.waiting, key, since)
	}
	put(&c.proposed, uid, p)
}

// retract deletes the proposal of a selection that goes on waiting for what it awaits.
func (c *claims) retract(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.proposed, uid)
}

// proposal has the definitions that a selection is about to publish. admissible decides on all proposals at
// once, while the lock of the claims is held.
type proposal struct {
	name types.NamespacedName
	// sequence orders the proposals by the first Claim of each.
	sequence uint64
	keys     inventory.Keys
	// holders maps the keys that other owners hold to their holders, and waiting to the times when they were refused
	// first.
	holders map[safeguard.Key]holder
	waiting map[safeguard.Key]time.Time
}

func keysOf(objects map[safeguard.Key]*guard.Live) inventory.Keys {
	keys := make(inventory.Keys, len(objects))
	for key := range objects {
		keys[key] = true
	}
	return keys
}
