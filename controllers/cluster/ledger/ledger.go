// SPDX-License-Identifier: Apache-2.0

// Package ledger stores what this process knows of selections: the objects that each serves, renders, proposes and has
// reserved, which selections were evaluated, and which wait. It decides which of them may publish an object. It must
// not know how the cluster is read.
package ledger

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// reservationTimeout is the time after which a reservation of a key that the Kustomization of the selection does not apply
// may be revoked.
const reservationTimeout = 10 * time.Minute

// Ledger maps live keys to selections, as far as this process decides it. The owner labels of live objects take
// precedence: see Holder.
type Ledger struct {
	// Now is the clock for reservations.
	Now func() time.Time

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
	// resumed has the selections that were published since they yielded to a conflict: a cached status may not say so yet.
	resumed map[types.UID]bool
	// tick counts evaluations; evaluated maps a selection to the tick of its last one.
	tick      uint64
	evaluated map[types.UID]uint64
	// leaving maps a selection to the tick when it was first about to publish without some keys.
	leaving map[types.UID]departed
	// waiting maps each selection that waits to the owners and evaluations that it waits for.
	waiting map[types.NamespacedName]wait
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
	holders map[safeguard.Key]Holder
	waiting map[safeguard.Key]time.Time
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
	// from is the selection that had it before, and lost it; empty without one.
	from types.UID
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

// shared returns the one of the known keys that is equal, or else the keys: a selection that serves what it renders has them
// once in memory. So keys are never modified.
func shared(keys inventory.Keys, known ...inventory.Keys) inventory.Keys {
	for _, same := range known {
		if same != nil && keys != nil && maps.Equal(keys, same) {
			return same
		}
	}
	return keys
}

// Forget deletes what is known of a selection, and its reservations.
func (l *Ledger) Forget(uid types.UID, name types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, name)
	delete(l.served, uid)
	delete(l.renders, uid)
	delete(l.proposed, uid)
	delete(l.revoked, uid)
	delete(l.resumed, uid)
	delete(l.evaluated, uid)
	delete(l.leaving, uid)
	for key, r := range l.reserved {
		if r.uid == uid {
			delete(l.reserved, key)
		}
	}
}

// ServedBy returns the live keys of a selection's artifact, and whether they are known.
func (l *Ledger) ServedBy(uid types.UID) (inventory.Keys, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	keys, known := l.served[uid]
	return keys, known
}

// Serve replaces the live keys of a selection's artifact.
func (l *Ledger) Serve(uid types.UID, keys inventory.Keys) {
	l.mu.Lock()
	defer l.mu.Unlock()
	put(&l.served, uid, shared(keys, l.renders[uid].keys, l.served[uid]))
	maps.DeleteFunc(l.reserved, func(key safeguard.Key, r reservation) bool {
		return r.uid == uid && !keys[key] && !l.proposed[uid].keys[key]
	})
}

// Learn stores what a status says of the live keys of a selection's artifact, unless they are known, and returns what is known
// then: the selection may have published since that status was read.
func (l *Ledger) Learn(uid types.UID, keys inventory.Keys) inventory.Keys {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.served[uid]; ok {
		return known
	}
	keys = shared(keys, l.renders[uid].keys)
	put(&l.served, uid, keys)
	return keys
}

// Resume notes that a selection is published: it does not yield to a conflict any more, whatever its cached status says.
func (l *Ledger) Resume(uid types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	put(&l.resumed, uid, true)
}

// NoteRender stores the keys that a selection renders. A doubt persists for the generation.
func (l *Ledger) NoteRender(uid types.UID, generation int64, keys inventory.Keys, doubt bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.renders[uid]
	w.keys, w.generation = shared(keys, l.served[uid], w.keys), generation
	if doubt {
		w.uncertain = generation
	}
	put(&l.renders, uid, w)
}

// Doubts reports whether a generation of a selection may not select as intended.
func (l *Ledger) Doubts(uid types.UID, generation int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.renders[uid].uncertain == generation
}

// Latest returns the keys that a selection renders, or else serves, and whether they are of this generation.
func (l *Ledger) Latest(uid types.UID, generation int64) (inventory.Keys, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.renders[uid]; w.keys != nil {
		return w.keys, w.generation == generation
	}
	return l.served[uid], false
}

// Passed returns the keys of the latest render of a selection that its safeguards have let pass.
func (l *Ledger) Passed(uid types.UID) inventory.Keys {
	l.mu.Lock()
	defer l.mu.Unlock()
	keys, _ := l.passed(uid)
	return keys
}

// Age returns how long this process has known a generation of a selection.
func (l *Ledger) Age(uid types.UID, generation int64, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.renders[uid]
	if w.since.IsZero() || w.seen != generation {
		w.seen, w.since = generation, now
		put(&l.renders, uid, w)
	}
	return now.Sub(w.since)
}

// HasRendered reports whether a selection renders a key.
func (l *Ledger) HasRendered(uid types.UID, key safeguard.Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.renders[uid].keys[key]
}

// Holds reports whether no other selection has reserved a key.
func (l *Ledger) Holds(uid types.UID, key safeguard.Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, reserved := l.reserved[key]
	return !reserved || r.uid == uid
}

// Withdraw ends the proposal of a selection and reports whether it had one.
func (l *Ledger) Withdraw(uid types.UID, name types.NamespacedName) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, had := l.proposed[uid]
	delete(l.proposed, uid)
	delete(l.waiting, name)
	return had
}

// Stay forgets that a selection was about to publish without some keys.
func (l *Ledger) Stay(uid types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.leaving, uid)
}

// WaitingFor returns the selections that wait for a Kustomization, or for the selection whose artifact it
// applies.
func (l *Ledger) WaitingFor(ks, selection types.NamespacedName) []types.NamespacedName {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []types.NamespacedName
	for name, w := range l.waiting {
		if w.on[ks] || w.by[selection] {
			names = append(names, name)
		}
	}
	return names
}

// Evaluate records that a selection was evaluated, and returns the selections that waited for it.
func (l *Ledger) Evaluate(uid types.UID) []types.NamespacedName {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tick++
	put(&l.evaluated, uid, l.tick)
	var names []types.NamespacedName
	for name, w := range l.waiting {
		if w.pending[uid] {
			names = append(names, name)
		}
	}
	return names
}

// RenderedBy returns the keys of the latest render of a selection; nil before the first one.
func (l *Ledger) RenderedBy(uid types.UID) inventory.Keys {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.renders[uid].keys
}

// Depart returns the tick at which a selection was about to publish without exactly these objects for the first time, and
// the time at which it was about to give up any, as far as this process knows.
func (l *Ledger) Depart(uid types.UID, keys inventory.Keys, now time.Time) (uint64, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, known := l.leaving[uid]
	if !known || len(last.keys) != len(keys) || len(last.keys.Without(keys)) > 0 {
		if !known {
			last.seen = now
		}
		last.keys, last.tick = keys, l.tick
		put(&l.leaving, uid, last)
	}
	return last.tick, last.seen
}

// AwaitEvaluation returns the selections that were not evaluated since the tick, and makes name wait for them.
func (l *Ledger) AwaitEvaluation(name types.NamespacedName, tick uint64, others []*v1alpha1.CatalogSelection) []types.NamespacedName {
	l.mu.Lock()
	defer l.mu.Unlock()
	var pending []types.NamespacedName
	uids := map[types.UID]bool{}
	for _, other := range others {
		if !other.Spec.Suspend && l.evaluated[other.UID] <= tick {
			pending, uids[other.UID] = append(pending, client.ObjectKeyFromObject(other)), true
		}
	}
	if len(pending) > 0 {
		w := l.waiting[name]
		w.pending = uids
		put(&l.waiting, name, w)
	}
	return pending
}

// EvaluatedSince reports whether a selection was evaluated after a tick.
func (l *Ledger) EvaluatedSince(uid types.UID, tick uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.evaluated[uid] > tick
}

// await records the holders that a selection waits for. The caller holds the lock.
func (l *Ledger) await(name types.NamespacedName, blocking map[safeguard.Key]Holder) {
	w := wait{on: map[types.NamespacedName]bool{}, by: map[types.NamespacedName]bool{}}
	for _, h := range blocking {
		w.on[h.Kustomization] = true
		w.by[h.Selection] = h.Selection.Name != ""
	}
	put(&l.waiting, name, w)
}

// propose stores the proposal of a selection. A selection that proposes again keeps its position, and the times for
// which it has waited.
func (l *Ledger) propose(uid types.UID, p proposal, now time.Time) {
	last, ok := l.proposed[uid]
	if ok {
		p.sequence = last.sequence
	} else {
		l.lastSequence++
		p.sequence = l.lastSequence
	}
	for key := range p.holders {
		since, waits := last.waiting[key]
		if !waits {
			since = now
		}
		put(&p.waiting, key, since)
	}
	put(&l.proposed, uid, p)
}
