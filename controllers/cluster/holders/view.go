// SPDX-License-Identifier: Apache-2.0

package holders

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Patience is the time for which a claim counts that nothing applies, and for which a new spec may claim any object.
const Patience = 10 * time.Minute

// View has the claims of all selections, as one watch of this process tells them: it has all that was written before a version of
// an object that it has. It implements cache.ReflectorStore for Watch, whose reflector checks the types of the objects.
type View struct {
	// Now is the clock.
	Now func() time.Time
	// Changed is called with the selections that claim, or give up, a key that another one begins or ceases to claim or give up.
	Changed func(...types.NamespacedName)

	mu sync.Mutex
	// all and names have the selections; by maps a key to the selections that claim it, or give it up. Each change of a live object
	// concerns the selections of watchful: they are held, or label unmanaged definitions.
	all      map[types.UID]*Claimant
	names    map[types.NamespacedName]types.UID
	by       map[Digest]map[types.UID]bool
	watchful map[types.UID]types.NamespacedName
	// next is closed when the view changes.
	next chan struct{}
}

// Claiming returns the selections that claim a key, the oldest first.
func (v *View) Claiming(key Digest) []*Claimant {
	return slices.DeleteFunc(v.having(key), func(c *Claimant) bool { return c.since[key].IsZero() })
}

// having returns the selections that claim a key, or give it up, the oldest first.
func (v *View) having(key Digest) []*Claimant {
	v.mu.Lock()
	defer v.mu.Unlock()
	var found []*Claimant
	for uid := range v.by[key] {
		found = append(found, v.all[uid])
	}
	slices.SortFunc(found, (*Claimant).Compare)
	return found
}

// rivals returns the selections that claim, or give up, something that a selection claims or gives up.
func (v *View) rivals(uid types.UID) []types.NamespacedName {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.all[uid]
	if c == nil {
		return nil
	}
	var names []types.NamespacedName
	for key := range c.keys() {
		for other := range v.by[key] {
			if name := v.all[other].Name; other != uid && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Of returns a selection; nil if there is none.
func (v *View) Of(uid types.UID) *Claimant {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.all[uid]
}

// Named returns the selection with a name; nil if there is none.
func (v *View) Named(name types.NamespacedName) *Claimant {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.all[v.names[name]]
}

// All returns all selections, in no order.
func (v *View) All() []*Claimant {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Collect(maps.Values(v.all))
}

// Watchful returns the selections that are held, or that label unmanaged definitions, in no order.
func (v *View) Watchful() []types.NamespacedName {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Collect(maps.Values(v.watchful))
}

// mostLag is the longest time for which a worker waits for the watch.
const mostLag = 10 * time.Second

// Await returns once the view has a version of a selection, or a later one, and so all that was written before it. It returns an error
// if the watch does not get there in mostLag.
func (v *View) Await(ctx context.Context, uid types.UID, version string) error {
	ctx, cancel := context.WithTimeout(ctx, mostLag)
	defer cancel()
	for {
		reached, next := v.reached(uid, version)
		if reached {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the watch of CatalogSelections, which is behind the API server: %w", ctx.Err())
		}
	}
}

func (v *View) reached(uid types.UID, version string) (bool, <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.next == nil {
		v.next = make(chan struct{})
	}
	seen, ok := v.all[uid]
	if !ok {
		return false, v.next
	}
	order, err := resourceversion.CompareResourceVersion(seen.version, version)
	return err == nil && order >= 0, v.next
}

// Add implements cache.ReflectorStore.
func (v *View) Add(object any) error { return v.Update(object) }

// Update implements cache.ReflectorStore.
func (v *View) Update(object any) error {
	s := object.(*Selection)
	return v.change(func() map[Digest]bool { return v.put(s) })
}

// Delete implements cache.ReflectorStore.
func (v *View) Delete(object any) error {
	s := object.(*Selection)
	return v.change(func() map[Digest]bool { return v.drop(s.UID) })
}

// Replace implements cache.ReflectorStore.
func (v *View) Replace(objects []any, _ string) error {
	there := map[types.UID]bool{}
	for _, object := range objects {
		there[object.(*Selection).UID] = true
	}
	return v.change(func() map[Digest]bool {
		changed := map[Digest]bool{}
		for uid := range v.all {
			if !there[uid] {
				maps.Copy(changed, v.drop(uid))
			}
		}
		for _, object := range objects {
			maps.Copy(changed, v.put(object.(*Selection)))
		}
		return changed
	})
}

// Resync implements cache.ReflectorStore.
func (v *View) Resync() error { return nil }

// change changes the view at once, and calls Changed with the selections that the keys which f returns concern.
func (v *View) change(f func() map[Digest]bool) error {
	v.mu.Lock()
	concerned := map[types.NamespacedName]bool{}
	for key := range f() {
		for uid := range v.by[key] {
			concerned[v.all[uid].Name] = true
		}
	}
	if v.next != nil {
		close(v.next)
		v.next = nil
	}
	v.mu.Unlock()
	if len(concerned) > 0 && v.Changed != nil {
		v.Changed(slices.Collect(maps.Keys(concerned))...)
	}
	return nil
}

// put replaces a selection, and returns the keys whose entries change. The time of a claim begins anew once it is published. The caller
// holds the lock.
func (v *View) put(s *Selection) map[Digest]bool {
	if !s.DeletionTimestamp.IsZero() {
		return v.drop(s.UID)
	}
	now, last := v.Now(), v.all[s.UID]
	next := &Claimant{
		Name: types.NamespacedName{Namespace: s.Namespace, Name: s.Name}, UID: s.UID, Created: s.CreationTimestamp,
		Generation: s.Generation, Seen: edited(s, now), Suspended: s.Spec.Suspend, version: s.ResourceVersion,
		revision: s.Status.Artifact.Revision, since: map[Digest]time.Time{},
	}
	if s.Status.Claim != nil {
		next.Claims = *s.Status.Claim
	}
	switch {
	case last == nil:
	case last.Generation == next.Generation:
		next.Seen = last.Seen
	default:
		next.Seen = now
	}
	next.published, next.waits = setOf(next.Claims.Published), setOf(next.Claims.Waits)
	next.given, next.gives = setOf(next.Claims.Given), setOf(next.Claims.Gives)
	for _, key := range append(unpack(next.Claims.Keys), unpack(next.Claims.Published)...) {
		next.since[key] = now
		if last != nil && !last.since[key].IsZero() && (last.published[key] || !next.published[key]) {
			next.since[key] = last.since[key]
		}
	}
	changed := differences(last, next)
	v.drop(s.UID)
	if v.all == nil {
		v.all, v.names, v.by = map[types.UID]*Claimant{}, map[types.NamespacedName]types.UID{}, map[Digest]map[types.UID]bool{}
		v.watchful = map[types.UID]types.NamespacedName{}
	}
	v.all[s.UID], v.names[next.Name] = next, s.UID
	if s.Status.Held != nil || s.Spec.Cluster.Unmanaged == v1alpha1.UnmanagedLabelled {
		v.watchful[s.UID] = next.Name
	}
	for key := range next.keys() {
		if v.by[key] == nil {
			v.by[key] = map[types.UID]bool{}
		}
		v.by[key][s.UID] = true
	}
	return changed
}

// edited returns the time of the last edit of a selection besides its status, by its managed fields: a process that starts has seen no
// edit.
func edited(s *Selection, now time.Time) time.Time {
	var last time.Time
	for _, f := range s.ManagedFields {
		if f.Subresource == "" && f.Time != nil && f.Time.After(last) {
			last = f.Time.Time
		}
	}
	if last.IsZero() || last.After(now) {
		return now
	}
	return last
}

// differences returns the keys whose entries differ between two states of a selection; before may be nil.
func differences(before, now *Claimant) map[Digest]bool {
	if before == nil {
		before = &Claimant{}
	}
	keys := before.keys()
	maps.Copy(keys, now.keys())
	if before.MayPublish() != now.MayPublish() {
		return keys
	}
	says := func(c *Claimant, key Digest) [5]bool {
		return [5]bool{!c.since[key].IsZero(), c.published[key], c.given[key], c.gives[key], c.waits[key]}
	}
	maps.DeleteFunc(keys, func(key Digest, _ bool) bool { return says(before, key) == says(now, key) })
	return keys
}

// drop removes a selection, and returns the keys that it has claimed or given up. The caller holds the lock.
func (v *View) drop(uid types.UID) map[Digest]bool {
	last := v.all[uid]
	if last == nil {
		return nil
	}
	keys := last.keys()
	for key := range keys {
		if delete(v.by[key], uid); len(v.by[key]) == 0 {
			delete(v.by, key)
		}
	}
	delete(v.all, uid)
	delete(v.watchful, uid)
	if v.names[last.Name] == uid {
		delete(v.names, last.Name)
	}
	return keys
}
