// SPDX-License-Identifier: Apache-2.0

package holders

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// world is an API server with selections, the Kustomizations that apply what they publish, and processes that reconcile them.
type world struct {
	*rand.Rand
	t       *testing.T
	seed    uint64
	now     time.Time
	version int
	// stored are the selections, and log all versions of them in their order.
	stored map[types.UID]*Selection
	log    []*Selection
	// selects is what the spec of a selection has, publishes what its artifact has, and owners has the selection whose Kustomization
	// has applied an object.
	selects, publishes map[types.UID]inventory.Keys
	// withheld are those whose artifact Flux cannot fetch.
	withheld  map[types.UID]bool
	owners    map[safeguard.Key]types.UID
	processes []*process
}

// process reconciles the selections of its shard. Its view lags behind the log.
type process struct {
	shard func(types.UID) bool
	view  *View
	seen  int
	// next maps a selection to the step of its publication.
	next map[types.UID]*publication
}

// publication is one that a crash, or another write, may end after each step.
type publication struct {
	version string
	keys    inventory.Keys
	mine    inventory.Keys
	// entering are the keys that are not published yet.
	entering inventory.Keys
	decided  bool
}

func (w *world) write(uid types.UID, version string, f func(*Selection)) bool {
	if version != "" && w.stored[uid].ResourceVersion != version {
		return false
	}
	next := w.stored[uid].DeepCopyObject().(*Selection)
	f(next)
	w.version++
	next.ResourceVersion = strconv.Itoa(w.version)
	w.stored[uid] = next
	w.log = append(w.log, next)
	return true
}

// catchUp shows a process some more of the log, or all of it at once, as a list does.
func (w *world) catchUp(p *process) {
	if w.IntN(8) == 0 {
		all := make([]any, 0, len(w.stored))
		for _, s := range w.stored {
			all = append(all, s)
		}
		p.seen = len(w.log)
		_ = p.view.Replace(all, "")
		return
	}
	for range min(w.IntN(4), len(w.log)-p.seen) {
		_ = p.view.Update(w.log[p.seen])
		p.seen++
	}
}

func (w *world) owned(uid types.UID) inventory.Keys {
	mine := inventory.Keys{}
	for key, owner := range w.owners {
		if owner == uid {
			mine[key] = true
		}
	}
	return mine
}

// step takes one step of the publication of a selection.
func (w *world) step(p *process, uid types.UID) {
	s, keys := w.stored[uid], w.selects[uid]
	mine, serves := w.owned(uid), inventory.Keys{}
	if !w.withheld[uid] {
		serves = w.publishes[uid]
	}
	job := p.next[uid]
	switch {
	case s.Spec.Suspend:
		delete(p.next, uid)
	case job == nil:
		if maps.Equal(keys, w.publishes[uid]) && !w.withheld[uid] {
			return
		}
		claims := &v1alpha1.Claim{Generation: s.Generation, Published: Pack(serves), Keys: Pack(keys.Without(serves))}
		claims.Given, claims.Gives, claims.Pending = Pack(mine.Without(w.publishes[uid])), Pack(mine.Without(keys)), true
		if w.IntN(6) == 0 { // a safeguard holds it, or the giver waits for others
			claims.Held, claims.Pending, claims.Gives = w.IntN(2) == 0, false, nil
			w.write(uid, s.ResourceVersion, func(s *Selection) { s.Status.Claim = claims })
			return
		}
		w.write(uid, s.ResourceVersion, func(s *Selection) { s.Status.Claim = claims })
		p.next[uid] = &publication{version: w.stored[uid].ResourceVersion, keys: keys, mine: mine, entering: keys.Without(serves)}
	case !job.decided:
		if reached, _ := p.view.reached(uid, job.version); !reached {
			return
		}
		foreign := map[safeguard.Key]Holder{}
		for key, owner := range w.owners {
			if owner != uid && job.keys[key] {
				foreign[key] = Holder{Selection: types.NamespacedName{Name: string(owner)}}
			}
		}
		won, yielding, err := judge(p.view, uid, job.entering, foreign, func(c *Claimant, key safeguard.Key) (Standing, error) {
			return Standing{
				Owns: w.owners[key] == c.UID && (c.UID != uid || w.publishes[uid][key]), Gives: newRing(p.view, digestsOf(job.mine.Without(job.keys))).givesUp(c, DigestOf(key)), Published: c.published[DigestOf(key)],
				Claims: c.published[DigestOf(key)] || c.claims(key) && c.MayPublish(), OwnsLike: len(w.owned(c.UID)) > 0,
				Old: c.claims(key) && w.now.Sub(c.since[DigestOf(key)]) > Patience,
			}, nil
		})
		if err != nil || len(won) > 0 {
			delete(p.next, uid)
			w.wait(uid, job, won)
			return
		}
		for other, c := range yielding {
			if !w.write(other, c.version, func(s *Selection) { s.Status.Claim.Generation = 0 }) {
				delete(p.next, uid)
				return
			}
		}
		job.decided = true
	default:
		delete(p.next, uid)
		if w.write(uid, job.version, func(s *Selection) {
			s.Status.Claim = &v1alpha1.Claim{Generation: s.Generation, Published: Pack(job.keys), Given: Pack(mine.Without(job.keys))}
		}) {
			w.publishes[uid], w.withheld[uid] = job.keys, false
		}
	}
}

// wait notes what a selection waits for, and what it gives up then. It serves nothing that others have.
func (w *world) wait(uid types.UID, job *publication, won map[safeguard.Key]Holder) {
	waits := inventory.Keys{}
	for key := range won {
		waits[key] = true
	}
	w.write(uid, job.version, func(s *Selection) {
		s.Status.Claim.Waits, s.Status.Claim.Pending = Pack(waits), false
		if inventory.Overlap(waits, w.publishes[uid]) {
			w.withheld[uid] = true
			Withhold(s.Status.Claim)
		}
	})
}

// apply lets the Kustomization of a selection apply what it publishes, and prune what it does not. The objects in it may be those of
// another selection, which is what the protocol prevents: it is reported.
func (w *world) apply(uid types.UID) {
	for key := range w.publishes[uid] { // what others have applied first, with more right to it: see Yields
		if owner := w.owners[key]; owner != "" && owner != uid && len(w.owned(uid)) == 0 {
			w.withheld[uid] = true
			w.write(uid, "", func(s *Selection) { Withhold(s.Status.Claim) })
		}
	}
	if w.withheld[uid] {
		return
	}
	for key := range w.publishes[uid] {
		if owner := w.owners[key]; owner != "" && owner != uid && w.publishes[owner][key] && !w.withheld[owner] {
			w.t.Fatalf("seed %d: %s and %s both publish %s and act on it", w.seed, owner, uid, key.Name)
		}
		w.owners[key] = uid
	}
	for key, owner := range w.owners {
		if owner == uid && !w.publishes[uid][key] {
			delete(w.owners, key)
		}
	}
}

func (w *world) edit(uid types.UID) {
	keys := inventory.Keys{}
	for i := range 4 {
		if w.IntN(2) == 0 {
			keys[safeguard.Key{Kind: "App", Name: fmt.Sprint("app", i)}] = true
		}
	}
	w.selects[uid] = keys
	w.write(uid, "", func(s *Selection) { s.Generation++ })
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		Rand: rand.New(rand.NewPCG(seed, 1)), t: t, seed: seed, now: time.Unix(1e9, 0), stored: map[types.UID]*Selection{},
		selects: map[types.UID]inventory.Keys{}, publishes: map[types.UID]inventory.Keys{}, withheld: map[types.UID]bool{}, owners: map[safeguard.Key]types.UID{},
	}
	for _, uid := range []types.UID{"a", "b", "c"} {
		w.stored[uid] = &Selection{ObjectMeta: metav1.ObjectMeta{UID: uid, Name: string(uid), CreationTimestamp: metav1.NewTime(w.now)}}
		w.publishes[uid] = inventory.Keys{}
		w.edit(uid)
	}
	for i := range 3 {
		p := &process{view: &View{Now: func() time.Time { return w.now }}, next: map[types.UID]*publication{}}
		p.shard = func(uid types.UID) bool { return int(uid[0]-'a') == i }
		w.processes = append(w.processes, p)
	}
	return w
}

// In any order of writes, lagging views, crashes and edits, no two selections publish an object that both apply; and once nothing
// happens any more, each object that somebody selects is published by one.
func TestRandomSchedules(t *testing.T) {
	for seed := range uint64(3000) {
		w := newWorld(t, seed)
		uids := slices.Sorted(maps.Keys(w.stored))
		for range 60 {
			i := w.IntN(len(w.processes))
			p := w.processes[i]
			switch w.IntN(12) {
			case 0:
				w.edit(uids[i])
				if w.IntN(4) == 0 {
					w.write(uids[i], "", func(s *Selection) { s.Spec.Suspend = !s.Spec.Suspend })
				}
			case 1:
				p.next = map[types.UID]*publication{} // a crash
			case 2:
				p.view, p.seen, p.next = &View{Now: p.view.Now}, 0, map[types.UID]*publication{} // a restart
			case 3, 4:
				w.apply(uids[i])
			case 5, 6, 7:
				w.catchUp(p)
			default:
				w.step(p, uids[i])
			}
		}
		for _, uid := range uids {
			if w.stored[uid].Spec.Suspend {
				w.write(uid, "", func(s *Selection) { s.Spec.Suspend, s.Generation = false, s.Generation+1 })
			}
		}
		w.settle(uids)
		for i := range 4 {
			key := safeguard.Key{Kind: "App", Name: fmt.Sprint("app", i)}
			var wanted, publishing []types.UID
			for _, uid := range uids {
				if w.selects[uid][key] {
					wanted = append(wanted, uid)
				}
				if w.publishes[uid][key] && !w.withheld[uid] {
					publishing = append(publishing, uid)
				}
			}
			if len(publishing) > 1 {
				t.Fatalf("seed %d: %v publish %s", seed, publishing, key.Name)
			}
			if len(wanted) == 1 && !slices.Equal(publishing, wanted) && maps.Equal(w.selects[wanted[0]], w.publishes[wanted[0]]) {
				t.Fatalf("seed %d: %s is selected by %v, and published by %v", seed, key.Name, wanted, publishing)
			}
		}
	}
}

// settle lets everything happen that is left to do.
func (w *world) settle(uids []types.UID) {
	for range 30 {
		for i, p := range w.processes {
			for p.seen < len(w.log) {
				_ = p.view.Update(w.log[p.seen])
				p.seen++
			}
			for range 3 {
				w.step(p, uids[i])
				for p.seen < len(w.log) {
					_ = p.view.Update(w.log[p.seen])
					p.seen++
				}
			}
			w.apply(uids[i])
		}
	}
}
