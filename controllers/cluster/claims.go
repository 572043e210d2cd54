package cluster

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/render/safeguard"
)

const (
	// reservationTimeout is how long a key that is not live stays reserved for a selection whose
	// Kustomization does not apply it.
	reservationTimeout = 10 * time.Minute
	// moveTimeout is how long the other half of a move may take to come.
	moveTimeout = 10 * time.Minute
	// barrierTimeout bounds the wait for other selections to say what they render.
	barrierTimeout = 30 * time.Second
)

// claims are who holds which live key, as far as this process decides it. What Flux wrote on live
// objects comes first; see holders.go. The zero value is empty.
type claims struct {
	mu sync.Mutex
	// served maps a selection to the live keys of its artifact.
	served map[types.UID]Keys
	// renders maps a selection to its latest render.
	renders map[types.UID]rendered
	// proposed maps a selection to its latest render that has passed the guard, until it is published.
	proposed map[types.UID]proposal
	// asked counts the proposals.
	asked uint64
	// reserved maps a key that no Kustomization has applied to the selection that may publish it.
	reserved map[safeguard.Key]reservation
	// revoked maps a selection to the time at which it lost a reservation.
	revoked map[types.UID]time.Time
	// tick counts evaluations; evaluated maps a selection to the last one.
	tick      uint64
	evaluated map[types.UID]uint64
	// leaving maps a selection to the first time that it was about to publish without some keys.
	leaving map[types.UID]departure
	// waiting maps the selections that wait for others to what they wait for.
	waiting map[types.NamespacedName]wait
}

// rendered is what a selection rendered last, whether or not the guard holds it. Each part may be of another
// generation.
type rendered struct {
	// keys are the live keys of the latest render, nil before the first one, and generation is that of the
	// spec which it was of.
	keys       Keys
	generation int64
	// doubted is the latest generation that may not render what is meant; generations begin with 1.
	doubted int64
	// seen is the generation that was seen last, and since is when it was seen first.
	seen  int64
	since time.Time
}

type reservation struct {
	uid   types.UID
	name  types.NamespacedName
	since time.Time
}

type departure struct {
	keys Keys
	tick uint64
	time time.Time
}

type wait struct {
	// on are the Kustomizations, and by are the selections, that hold what is waited for.
	on, by map[types.NamespacedName]bool
	// pending are the selections that have to be evaluated.
	pending map[types.UID]bool
}

// put sets a member of a map that may be nil.
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

func (c *claims) servedBy(uid types.UID) (Keys, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys, known := c.served[uid]
	return keys, known
}

// serve replaces the live keys of a selection's artifact.
func (c *claims) serve(uid types.UID, keys Keys) {
	c.mu.Lock()
	defer c.mu.Unlock()
	put(&c.served, uid, keys)
	maps.DeleteFunc(c.reserved, func(key safeguard.Key, r reservation) bool {
		return r.uid == uid && !keys[key] && !c.proposed[uid].keys[key]
	})
}

// noteRender replaces what a selection renders. A doubt stays for the generation.
func (c *claims) noteRender(uid types.UID, generation int64, keys Keys, doubt bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.renders[uid]
	w.keys, w.generation = keys, generation
	if doubt {
		w.doubted = generation
	}
	put(&c.renders, uid, w)
}

// doubts reports whether what a generation of a selection renders may not be what is meant.
func (c *claims) doubts(uid types.UID, generation int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.renders[uid].doubted == generation
}

// latest returns what a selection rendered last, or else serves, and whether that is of this generation.
func (c *claims) latest(uid types.UID, generation int64) (Keys, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.renders[uid]; w.keys != nil {
		return w.keys, w.generation == generation
	}
	return c.served[uid], false
}

// age returns for how long this process has known a generation of a selection.
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
	delete(c.leaving, uid)
	delete(c.waiting, name)
	return had
}

// waitingFor returns the selections that wait for what a Kustomization holds, or one that applies the
// artifact of a selection.
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

// evaluate notes that a selection was evaluated, and returns those that waited for it.
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
