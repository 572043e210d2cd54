// SPDX-License-Identifier: Apache-2.0

// Package cluster connects the parts that read and mark the live state that concerns CatalogSelections: the Kustomizations that
// apply artifacts, live objects, the selection that holds each of them, and the marks that keep Flux from changing or deleting
// one. It must not know how an artifact is rendered, fetched, guarded or published.
package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/cluster/access"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/departures"
	"github.com/winnow-dev/winnow/controllers/cluster/effects"
	"github.com/winnow-dev/winnow/controllers/cluster/holders"
	"github.com/winnow-dev/winnow/controllers/cluster/instances"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/controllers/cluster/marks"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Cluster is the live state that concerns all selections. Callers use its parts directly.
type Cluster struct {
	*access.Access
	Kustomizations *consumers.Kustomizations
	Objects        *live.Objects
	Effects        *effects.Effects
	Holders        *holders.Holders
	Departures     *departures.Departures
	Marks          *marks.Marks
	Instances      *instances.Instances

	// seen maps the types.NamespacedName of a selection to its UID.
	seen sync.Map
	// applied maps a UID to what appliedBy returned last.
	applied sync.Map
}

// New returns the live state of a cluster that was not read yet. own reads CatalogSelections from the cache of the controller, and writes
// their statuses; view has the claims of all selections.
func New(own client.Client, view *holders.View, reached *access.Access) *Cluster {
	kustomizations := &consumers.Kustomizations{Access: reached}
	objects := &live.Objects{Access: reached, Kustomizations: kustomizations}
	held := &holders.Holders{View: view, Kustomizations: kustomizations, Objects: objects, Client: own}
	objects.Concerned = held.Concerned
	marked := &marks.Marks{Access: reached, Holders: held}
	return &Cluster{
		Access: reached, Kustomizations: kustomizations, Objects: objects, Holders: held, Marks: marked,
		Instances: &instances.Instances{Objects: objects}, Effects: &effects.Effects{Objects: objects},
		Departures: &departures.Departures{Holders: held, Objects: objects, Marks: marked},
	}
}

// Gone deletes the state of a selection besides the watches of its kinds, and returns its UID, if there was any state: it was deleted, or
// belongs to another shard now.
func (c *Cluster) Gone(key types.NamespacedName) (types.UID, bool) {
	seen, ok := c.seen.LoadAndDelete(key)
	if !ok {
		return "", false
	}
	uid := seen.(types.UID)
	c.Departures.Forget(uid)
	c.applied.Delete(uid)
	c.Objects.Forget(uid)
	c.Forget(uid) // the warnings of Access
	return uid, true
}

// IsReplaced reports whether the state of a name belongs to an earlier selection, which was deleted.
func (c *Cluster) IsReplaced(cs *v1alpha1.CatalogSelection) bool {
	seen, ok := c.seen.Load(client.ObjectKeyFromObject(cs))
	return ok && seen != cs.UID
}

// See notes a selection, before anything else does, so that Gone finds what is noted of it.
func (c *Cluster) See(cs *v1alpha1.CatalogSelection) {
	c.seen.Store(client.ObjectKeyFromObject(cs), cs.UID)
}

// Observe reads the live state after an attempt to publish a selection. isOld is true if its status is older than what was published, and
// published are the definitions in the artifact of the status, nil if they are not known.
func (c *Cluster) Observe(ctx context.Context, cs *v1alpha1.CatalogSelection, isOld bool, published []safeguard.Definition) (*live.State, error) {
	consumed, err := c.Kustomizations.Of(ctx, cs)
	if err != nil {
		return nil, fmt.Errorf("finding the Kustomizations of the artifact: %w", err)
	}
	return c.Objects.Observe(ctx, cs, consumed, isOld, published)
}

// moveInterval is the interval at which an unfinished move is checked again.
const moveInterval = 5 * time.Second

// maxBypassed bounds status.bypassed, in names of at most 253 bytes.
const maxBypassed = 100

// appliedBy returns what the consumers of this cluster have applied: a change of it may begin or end a conflict with others.
func appliedBy(consumed consumers.Consumers) string {
	var applied strings.Builder
	for _, item := range consumed.Local() {
		fmt.Fprintf(&applied, "%s=%s,", item.Key(), item.Revision)
	}
	return applied.String()
}

// Marked is what SyncMarks has found.
type Marked struct {
	// Bypassed are the names of the bypassed definitions, sorted, and Unmanaged is the number of unmanaged ones.
	Bypassed  []string
	Unmanaged int
	// Orphaned is the number of definitions that left the artifact and that Flux keeps, and BypassedSince when the oldest bypass was set;
	// zero if that is not known.
	Orphaned      int
	BypassedSince time.Time
	// Again is the time after which to look at unfinished moves again; zero for none.
	Again time.Duration
}

// In returns a status with what was found.
func (m Marked) In(status *v1alpha1.CatalogSelectionStatus) v1alpha1.CatalogSelectionStatus {
	next := *status
	next.Bypassed = m.Bypassed[:min(len(m.Bypassed), maxBypassed)]
	if next.Summary != nil {
		next.Summary = next.Summary.DeepCopy()
		next.Summary.Bypassed, next.Summary.Unmanaged = bounds.Count(len(m.Bypassed)), bounds.Count(m.Unmanaged)
		next.Summary.Orphaned = bounds.Count(m.Orphaned)
	}
	return next
}

// SyncMarks sets and removes the marks that the published definitions require, whether or not the publication is new. state is the
// result of Observe. Errors are temporary.
func (c *Cluster) SyncMarks(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State) (m Marked, err error) {
	now := appliedBy(state.Consumers)
	if last, _ := c.applied.Swap(cs.UID, now); last != now && (last != nil || now != "") {
		c.Kinds.Enqueue(ctx, c.Holders.Rivals(ctx, cs)...)
	}
	if m.Bypassed, err = c.Marks.SyncBypass(ctx, cs, state); err != nil {
		return Marked{}, err
	}
	if err := c.Departures.Protect(ctx, cs, state); err != nil {
		return Marked{}, err
	}
	moving, err := c.Marks.EndMoves(ctx, cs, state)
	if err != nil {
		return Marked{}, err
	}
	if moving {
		m.Again = moveInterval
	}
	if m.Unmanaged, err = c.Marks.SyncUnmanaged(ctx, cs, state); err != nil {
		return Marked{}, err
	}
	c.Objects.Keep(cs, state)
	slices.Sort(m.Bypassed)
	m.countLeftovers(cs, state)
	return m, nil
}

// countLeftovers counts what the labels in the watch tell. While the artifact is not known, nothing counts as orphaned.
func (m *Marked) countLeftovers(cs *v1alpha1.CatalogSelection, state *live.State) {
	for object := range live.Definitions(state.Live) {
		applied, bypassed := guard.AppliedBy(cs, object), slices.Contains(m.Bypassed, object.Name)
		if !applied && !bypassed {
			continue
		}
		left := guard.LeftoverOf(object, state.Served == nil || state.Served[guard.LiveKey(object)])
		// Flux deletes the others. A mark of the bypass that is set or removed just now is not in the cache yet.
		stays := guard.Kept(object) || guard.Honored(cs, object) || guard.StaysUntouched(cs, object)
		if applied && left.Orphaned && stays {
			m.Orphaned++
		}
		if since := left.BypassedSince; bypassed && since != nil && (m.BypassedSince.IsZero() || since.Before(m.BypassedSince)) {
			m.BypassedSince = *since
		}
	}
}
