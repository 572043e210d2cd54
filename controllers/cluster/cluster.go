// SPDX-License-Identifier: Apache-2.0

// Package cluster connects the parts that read and mark the live state that concerns CatalogSelections: the Kustomizations that
// apply artifacts, live objects, the selection that holds each of them, and the marks that keep Flux from changing or deleting
// one. It must not know how an artifact is rendered, fetched, guarded or published.
package cluster

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/access"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/departures"
	"github.com/winnow-dev/winnow/controllers/cluster/effects"
	"github.com/winnow-dev/winnow/controllers/cluster/holders"
	"github.com/winnow-dev/winnow/controllers/cluster/instances"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/controllers/cluster/marks"
)

// Options configure New. All fields are required.
type Options struct {
	*access.Access

	// Selections reads CatalogSelections from the cache of the controller.
	Selections client.Reader
	// View has the claims of all selections, and Statuses writes the statuses of other selections.
	View     *holders.View
	Statuses client.Client
}

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

// New returns the live state of a cluster that was not read yet.
func New(o Options) *Cluster {
	kustomizations := &consumers.Kustomizations{Access: o.Access}
	objects := &live.Objects{Access: o.Access, Kustomizations: kustomizations}
	held := &holders.Holders{View: o.View, Kustomizations: kustomizations, Objects: objects, Selections: o.Selections, Client: o.Statuses}
	objects.Concerned = held.Concerned
	marked := &marks.Marks{Access: o.Access, Holders: held}
	return &Cluster{
		Access: o.Access, Kustomizations: kustomizations, Objects: objects, Holders: held, Marks: marked,
		Instances:  &instances.Instances{Kustomizations: kustomizations, Objects: objects},
		Effects:    &effects.Effects{Access: o.Access, Objects: objects, Kustomizations: kustomizations},
		Departures: &departures.Departures{Holders: held, Objects: objects, Marks: marked, Events: o.Events},
	}
}

// Forget deletes the state of a selection that is deleted.
func (c *Cluster) Forget(cs *v1alpha1.CatalogSelection) {
	key := client.ObjectKeyFromObject(cs)
	c.drop(cs.UID)
	c.Kinds.Forget(key)
}

// Gone deletes the state of a selection that is no longer in the cache: it was deleted, or belongs to another shard now. It
// returns its UID, if there was any state.
func (c *Cluster) Gone(key types.NamespacedName) (types.UID, bool) {
	seen, ok := c.seen.LoadAndDelete(key)
	if !ok {
		return "", false
	}
	c.drop(seen.(types.UID))
	return seen.(types.UID), true
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

// drop deletes the state of a selection, besides the watches of its kinds.
func (c *Cluster) drop(uid types.UID) {
	c.Departures.Forget(uid)
	c.applied.Delete(uid)
	c.Objects.Forget(uid)
	c.Access.Forget(uid)
}
