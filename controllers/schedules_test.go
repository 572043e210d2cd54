// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/holders"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// lagging shows a view the selections of other shards as late as the protocol allows: with the next change of one of its own.
type lagging struct {
	cache.ReflectorStore
	shard string

	mu      sync.Mutex
	behind  bool
	waiting []func() error
}

func (l *lagging) Add(object any) error { return l.Update(object) }

func (l *lagging) Update(object any) error {
	return l.show(object, func() error { return l.ReflectorStore.Update(object) })
}

func (l *lagging) Delete(object any) error {
	return l.show(object, func() error { return l.ReflectorStore.Delete(object) })
}

func (l *lagging) show(object any, f func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, f)
	if s, ok := object.(*holders.Selection); l.behind && ok && s.Labels[shardLabel] != l.shard {
		return nil
	}
	return l.catchUp()
}

// catchUp shows all that waits. The caller holds the lock.
func (l *lagging) catchUp() error {
	waiting := l.waiting
	l.waiting = nil
	for _, f := range waiting {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func (l *lagging) lag(behind bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.behind = behind
	if !behind {
		_ = l.catchUp()
	}
}

// schedule is a random order of the requests, crashes and edits of three controllers, one of each shard, on one API server.
type schedule struct {
	*liveCluster
	*rand.Rand
	seed uint64
	// settled is true if all selections have applied something first: to one that has, the claim of one that has not is worth nothing,
	// so that both announce an object until one has applied it.
	settled bool
	shards  []*shard
	views   []*lagging
	// of maps a selection to its shard.
	of map[string]int
	// left maps "<selection>/<object>" to a selection that claimed the object when the first one published without it.
	left map[string]string
	// served has what each selection has announced last, and statuses has earlier ones.
	served   map[string][]string
	statuses map[string]*v1alpha1.CatalogSelection
	steps    []string
}

var (
	scheduled = []string{"alpha", "beta", "gamma"}
	movable   = []string{"argocd", "falco", "nginx", "tempo"}
)

func newSchedule(t *testing.T, seed uint64) *schedule {
	w := &schedule{
		liveCluster: newCluster(t), Rand: rand.New(rand.NewPCG(seed, 2)), seed: seed, settled: seed%2 == 0, of: map[string]int{}, left: map[string]string{},
		served: map[string][]string{}, statuses: map[string]*v1alpha1.CatalogSelection{},
	}
	w.catalog(slices.Concat(movable, scheduled)...)
	for i, name := range scheduled {
		only := slices.DeleteFunc(slices.Concat(movable, scheduled), func(other string) bool { return other == name })
		w.selection(name, compared, without(only...), func(cs *v1alpha1.CatalogSelection) { cs.Labels = map[string]string{shardLabel: name} })
		w.consumer(name, name, pruning)
		w.of[name] = i
	}
	for i, name := range scheduled {
		s := w.shard(name)
		served := httptest.NewServer(http.FileServer(http.Dir(s.storage.BasePath)))
		t.Cleanup(served.Close)
		s.storage.Hostname = strings.TrimPrefix(served.URL, "http://")
		s.through = func(store cache.ReflectorStore) cache.ReflectorStore {
			w.views[i] = &lagging{shard: name, ReflectorStore: store}
			return w.views[i]
		}
		w.shards, w.views = append(w.shards, s), append(w.views, nil)
		s.restart()
	}
	for _, name := range scheduled {
		if w.settled {
			w.runs(name, -1)
			w.applies(name)
		}
		w.change(name, w.spec(name))
	}
	return w
}

// spec returns a random choice of the movable definitions, with the one that is of this selection alone.
func (w *schedule) spec(name string) func(*v1alpha1.CatalogSelection) {
	left := slices.DeleteFunc(slices.Clone(scheduled), func(other string) bool { return other == name })
	for _, name := range movable {
		if w.IntN(2) == 0 {
			left = append(left, name)
		}
	}
	return without(left...)
}

// selects reports whether the spec of a selection has an object.
func (w *schedule) selects(name, object string) bool {
	cs := w.get(name)
	return !cs.Spec.Suspend && !slices.Contains(cs.Spec.Exclude, object)
}

// runs reconciles a selection once in the process of its shard, which ends after a number of requests; never after a negative one.
func (w *schedule) runs(name string, requests int) {
	s := w.shards[w.of[name]]
	if requests >= 0 {
		s.turn = func() error {
			if requests--; requests < 0 {
				return context.Canceled
			}
			return nil
		}
	}
	ctx := context.WithValue(s.context(), ofRun{}, true)
	for {
		_, err := s.reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: w.key(name)})
		if loaded := s.reconciler.loader.Queue.RunNext(ctx); err != nil || !loaded {
			break
		}
	}
	s.turn = nil
	if requests >= 0 {
		s.restart()
	}
	for _, s := range w.shards {
		s.takeEnqueued() // nobody reads them
	}
	w.observe()
}

// observe checks that no object is announced by two selections, and notes what left one while another one claimed it.
func (w *schedule) observe() {
	by := map[string][]string{}
	for _, name := range scheduled {
		now := w.announcedBy(name)
		for _, object := range now {
			if claim := w.get(name).Status.Claim; claim == nil || !w.has(claim.Gives, object) { // in a swap, it gives that up
				by[object] = append(by[object], name)
			}
			delete(w.left, name+"/"+object)
		}
		for _, object := range w.served[name] {
			if slices.Contains(now, object) || len(now) == 0 {
				continue
			}
			for _, other := range scheduled {
				if claim := w.get(other).Status.Claim; other != name && claim != nil && (w.has(claim.Keys, object) || w.has(claim.Published, object)) {
					w.left[name+"/"+object] = other
				}
			}
		}
		if len(now) > 0 {
			w.served[name] = now
		}
	}
	for object, names := range by {
		if len(names) > 1 && w.settled {
			w.fail("%v announce %s", names, object)
		}
	}
}

// has reports whether a field of status.claim has an object.
func (w *schedule) has(packed []byte, object string) bool {
	key := holders.DigestOf(safeguard.KeyOf(w.group, "ApplicationDefinition", "", object))
	for chunk := range slices.Chunk(packed, len(key)) {
		if bytes.Equal(chunk, key[:]) {
			return true
		}
	}
	return false
}

// announcedBy returns the objects that Flux may fetch from a selection.
func (w *schedule) announcedBy(name string) []string {
	announced := w.announced(name)
	if announced == nil || announced.Status.Artifact == nil {
		return nil
	}
	return w.contents(name)
}

// applies lets Flux apply what a selection announces. It deletes nothing that another one claimed when that left.
func (w *schedule) applies(name string) {
	if w.get(name).Status.Artifact == nil || w.announcedBy(name) == nil {
		return
	}
	before := map[string]bool{}
	for _, object := range movable {
		before[object] = w.live(object) != nil
	}
	w.flux(name, name, w.contents(name)...)
	for _, object := range movable {
		if by := w.left[name+"/"+object]; before[object] && w.live(object) == nil && by != "" && w.selects(by, object) {
			w.fail("Flux deletes %s of %s, which %s claimed when it left", object, name, by)
		}
	}
	w.observe()
}

func (w *schedule) fail(format string, args ...any) {
	w.Helper()
	w.Fatalf("seed %d, after\n%s\n%s", w.seed, strings.Join(w.steps, "\n"), fmt.Sprintf(format, args...))
}

func (w *schedule) note(format string, args ...any) {
	w.steps = append(w.steps, fmt.Sprintf(format, args...))
}

// step takes one random step.
func (w *schedule) step() {
	name := scheduled[w.IntN(len(scheduled))]
	switch w.IntN(16) {
	case 0, 1:
		edit := w.spec(name)
		w.change(name, edit)
		w.note("edit %s: without %v", name, w.get(name).Spec.Exclude)
	case 2:
		w.change(name, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = !cs.Spec.Suspend })
		w.note("suspend or resume %s", name)
	case 3:
		i := w.IntN(len(w.shards))
		w.note("%s moves to the shard %s", name, w.shards[i].name)
		w.change(name, func(cs *v1alpha1.CatalogSelection) { cs.Labels[shardLabel] = w.shards[i].name })
		w.of[name] = i
	case 4:
		w.note("restart %s", w.shards[w.of[name]].name)
		w.shards[w.of[name]].restart()
	case 5:
		i, behind := w.of[name], w.IntN(3) > 0
		w.note("the view of %s lags: %v", w.shards[i].name, behind)
		w.views[i].lag(behind)
	case 6:
		if old := w.statuses[name]; old != nil && w.IntN(2) == 0 {
			w.note("an earlier status of %s is restored", name)
			w.restoreStatus(name, old)
			w.runs(name, -1) // until then, the restored claim counts
		} else {
			w.statuses[name] = w.get(name)
		}
	case 7, 8, 9:
		w.note("Flux applies %s", name)
		w.applies(name)
	case 10, 11:
		requests := w.IntN(40)
		w.note("reconcile %s in %s, which ends after %d requests", name, w.shards[w.of[name]].name, requests)
		w.runs(name, requests)
	default:
		w.note("reconcile %s in %s", name, w.shards[w.of[name]].name)
		w.runs(name, -1)
	}
}

// pass lets time pass for all shards.
func (w *schedule) pass(by time.Duration) {
	for _, s := range w.shards {
		s.pass(by)
	}
}

// end gives each object to one selection, and lets everything happen that is left to do. It returns the selections by objects.
func (w *schedule) end() map[string]string {
	holders, left := map[string]string{}, map[string][]string{}
	for _, object := range movable {
		holders[object] = scheduled[w.IntN(len(scheduled))]
	}
	for _, name := range scheduled {
		for _, object := range slices.Concat(movable, scheduled) {
			if cmp.Or(holders[object], object) != name {
				left[name] = append(left[name], object)
			}
		}
		w.change(name, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend, cs.Spec.Exclude = false, left[name] })
		w.note("the end of %s: without %v", name, left[name])
	}
	for i := range w.shards {
		w.views[i].lag(false)
	}
	for range 6 {
		for _, name := range scheduled {
			w.shards[w.of[name]].awaitCaches()
			w.runs(name, -1)
			w.applies(name)
			if held := w.get(name).Status.Held; held != nil { // by what was published last, which a restored status does not know
				w.change(name, approving(held.Approve...))
			}
		}
		w.pass(4 * time.Minute)
	}
	return holders
}

// In any order of requests, edits, crashes, restarts and changes of the shard, with views that lag and statuses that are restored, no
// object is announced by two selections of which neither gives it up, and none is deleted that another one claims; and in the end, each is applied by the one that
// selects it.
func TestRandomSchedulesOfThreeControllers(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			w := newSchedule(t, seed)
			for range 60 {
				w.step()
			}
			for object, holder := range w.end() {
				u := w.live(object)
				if u == nil || u.GetLabels()["kustomize.toolkit.fluxcd.io/name"] != holder || w.kept(object) != "" {
					w.fail("%s of %s is %v", object, holder, u)
				}
			}
			for _, name := range scheduled {
				w.equal("conditions of "+name, conditionsOf(w.get(name)), []string{"Ready=True Succeeded"})
			}
			if t.Failed() {
				w.fail("not all are ready")
			}
		})
	}
}
