// SPDX-License-Identifier: Apache-2.0

// Package cluster connects the parts that read and mark the live state that concerns CatalogSelections: the Kustomizations that
// apply artifacts, live objects, the selection that holds each of them, and the marks that keep Flux from changing or deleting
// one. It must not know how an artifact is rendered, fetched, guarded or published.
package cluster

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/access"
	"github.com/winnow-dev/winnow/controllers/cluster/claims"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/departures"
	"github.com/winnow-dev/winnow/controllers/cluster/effects"
	"github.com/winnow-dev/winnow/controllers/cluster/instances"
	"github.com/winnow-dev/winnow/controllers/cluster/ledger"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/controllers/cluster/marks"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Options configure New. All fields but Shards are required.
type Options struct {
	*access.Access

	// Selections reads CatalogSelections from the cache of the controller.
	Selections client.Reader
	// Published returns the definitions in the artifact of a selection; nil if they are not known.
	Published func(*v1alpha1.CatalogSelection) ([]safeguard.Definition, error)
	// Outdated reports whether the status of a selection may be older than its artifact, as after a restore.
	Outdated func(context.Context, *v1alpha1.CatalogSelection) bool
	// Rendered reports whether the artifact of a selection was rendered from its present spec.
	Rendered func(*v1alpha1.CatalogSelection) bool
	// Enqueue adds selections to the queue.
	Enqueue func(context.Context, ...types.NamespacedName)
	// Shards are the controllers of other selections; nil if this one reconciles all.
	Shards *claims.Shards
	// Reported is called with the selections whose instances may have another state.
	Reported func(...types.NamespacedName)
	// Now is the clock for reservations and moves.
	Now func() time.Time
}

// Cluster is the live state that concerns all selections. Callers use its parts directly.
type Cluster struct {
	*access.Access
	Kustomizations *consumers.Kustomizations
	Objects        *live.Objects
	Effects        *effects.Effects
	Claims         *claims.Claims
	Departures     *departures.Departures
	Marks          *marks.Marks
	Instances      *instances.Instances

	// seen maps the types.NamespacedName of a selection to its UID.
	seen sync.Map
	// applied maps a UID to what appliedBy returned last.
	applied sync.Map
}

// New returns the live state of a cluster that was not read yet.
func New(o Options) *Cluster {
	known := &ledger.Ledger{Now: o.Now}
	kustomizations := &consumers.Kustomizations{Access: o.Access, Waiting: known.WaitingFor}
	objects := &live.Objects{Access: o.Access, Published: o.Published}
	held := &claims.Claims{
		Ledger: known, Kustomizations: kustomizations, Objects: objects,
		Selections: o.Selections, Published: o.Published, Outdated: o.Outdated, Enqueue: o.Enqueue, Shards: o.Shards,
	}
	objects.Concerned = held.Concerned
	objects.Reported = func(ctx context.Context, key safeguard.Key) { o.Reported(held.Serving(ctx, key)...) }
	marked := &marks.Marks{Access: o.Access, Claims: held, Now: o.Now}
	return &Cluster{
		Access: o.Access, Kustomizations: kustomizations, Objects: objects, Claims: held, Marks: marked,
		Instances:  &instances.Instances{Kustomizations: kustomizations, Objects: objects, Published: o.Published},
		Effects:    &effects.Effects{Access: o.Access, Objects: objects, Kustomizations: kustomizations},
		Departures: &departures.Departures{Claims: held, Marks: marked, Events: o.Events, Rendered: o.Rendered, Now: o.Now},
	}
}

// Forget deletes the state of a selection that is deleted, and enqueues the selections that serve or render its
// keys.
func (c *Cluster) Forget(ctx context.Context, cs *v1alpha1.CatalogSelection) {
	key := client.ObjectKeyFromObject(cs)
	served := c.Claims.Served(ctx, cs)
	c.Claims.Delete(key, cs.UID)
	c.drop(cs.UID, key)
	c.Kinds.Forget(key)
	c.Claims.EnqueueOthers(ctx, cs, served)
}

// Gone deletes the state of a selection that is no longer in the cache: it was deleted, or belongs to another
// shard now. It enqueues the selections that serve or render something that it has served. It returns its UID, if there was
// any state.
func (c *Cluster) Gone(ctx context.Context, key types.NamespacedName) (types.UID, bool) {
	c.Claims.Gone(key)
	seen, ok := c.seen.LoadAndDelete(key)
	if !ok {
		return "", false
	}
	cs := &v1alpha1.CatalogSelection{}
	cs.Namespace, cs.Name, cs.UID = key.Namespace, key.Name, seen.(types.UID)
	served, _ := c.Claims.Ledger.ServedBy(cs.UID)
	c.drop(cs.UID, key)
	if len(served) > 0 {
		c.Claims.EnqueueOthers(ctx, cs, served)
	}
	return cs.UID, true
}

// IsReplaced reports whether the state of a name is that of an earlier selection, which was deleted.
func (c *Cluster) IsReplaced(cs *v1alpha1.CatalogSelection) bool {
	seen, ok := c.seen.Load(client.ObjectKeyFromObject(cs))
	return ok && seen != cs.UID
}

// See notes a selection, before anything else does, so that Gone finds what is noted of it.
func (c *Cluster) See(cs *v1alpha1.CatalogSelection) {
	c.seen.Store(client.ObjectKeyFromObject(cs), cs.UID)
}

// drop deletes the state of a selection, besides the watches of its kinds.
func (c *Cluster) drop(uid types.UID, key types.NamespacedName) {
	c.Claims.Ledger.Forget(uid, key)
	c.applied.Delete(uid)
	c.Objects.Forget(uid)
	c.Access.Forget(uid)
}
