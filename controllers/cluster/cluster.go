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
		Instances:  &instances.Instances{Kustomizations: kustomizations, Objects: objects},
		Effects:    &effects.Effects{Access: reached, Objects: objects, Kustomizations: kustomizations},
		Departures: &departures.Departures{Holders: held, Objects: objects, Marks: marked, Events: reached.Events},
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
	c.Access.Forget(uid)
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
