// SPDX-License-Identifier: Apache-2.0

package departures

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/claims"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/evidence"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/leaving"
	"github.com/winnow-dev/winnow/controllers/cluster/marks"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Departures lets objects leave the artifacts of selections. All fields are required.
type Departures struct {
	Claims *claims.Claims
	Marks  *marks.Marks
	// Events receives the events about moves.
	Events record.EventRecorder
	// Rendered reports whether the artifact of a selection was rendered from its present spec.
	Rendered func(*v1alpha1.CatalogSelection) bool
	// Now is the clock for moves.
	Now func() time.Time
}

// receiver is another selection to which objects may move.
type receiver struct {
	name types.NamespacedName
	// keys are those of its latest render, and passed those of the latest one that no safeguard holds; known is true if keys are
	// of its present spec.
	keys, passed inventory.Keys
	known        bool
	// open is true while it may select any object: its present spec has no render, or may not select as intended. stale is
	// true if that has been so for too long for a selection that is not able to apply an object.
	open, stale bool
	// acts is true if it is neither suspended nor held, and seen is what its Kustomizations own then.
	acts bool
	seen evidence.Evidence
}

// leaver is an object that leaves, with the releases that helm-controller uninstalls when the object is deleted.
type leaver struct {
	key      safeguard.Key
	releases []safeguard.Key
}

// able reports whether nothing prevents the receiver from applying an object: it acts, and a live object of the kind names
// one of its Kustomizations. A release moves to another object, in a namespace of the receiver's.
func (r receiver) able(l leaver) bool {
	return r.acts && (r.seen.OwnsLike(l.key) || r.seen.Owns && r.inherits(l))
}

// inherits reports whether the latest render has a release of the object.
func (r receiver) inherits(l leaver) bool { return l.releasedIn(r.keys) }

func (l leaver) releasedIn(keys inventory.Keys) bool {
	return slices.ContainsFunc(l.releases, func(release safeguard.Key) bool { return keys[release] })
}

func (l leaver) in(keys inventory.Keys) bool { return keys[l.key] || l.releasedIn(keys) }

// selects reports whether the receiver is about to publish the object, or has done so. Before its safeguards have decided on a
// render, it may be held.
func (r receiver) selects(l leaver) bool { return r.known && l.in(r.keys) && l.in(r.passed) }

func (r receiver) maySelect(l leaver) bool {
	return l.in(r.keys) || r.open && (!r.stale || r.able(l))
}

// chooseReceiver returns the receiver of an object, nil if the object may leave without one; decided is false while the
// object has to stay in the artifact. over is true once the time for the receivers is over.
func chooseReceiver(receivers []receiver, l leaver, over bool) (to *receiver, decided bool) {
	for i, r := range receivers {
		switch {
		case r.able(l) && r.selects(l):
			return &receivers[i], true
		case over && !r.able(l):
		case to == nil && r.maySelect(l):
			to = &receivers[i]
		}
	}
	return to, over
}

// receivers returns the selections to which objects may move: those with a Kustomization in this cluster, and
// those whose spec is so new that their Kustomization may follow. A spec that has no render, or whose render has a
// doubt, may claim any object, for as long as it is new or the selection is able to apply the object, and so does a
// selection that was not evaluated since the tick; another one claims only the objects in its latest render.
func (ds *Departures) receivers(ctx context.Context, others []*v1alpha1.CatalogSelection, live []*guard.Live, tick uint64) ([]receiver, error) {
	var receivers []receiver
	for _, other := range others {
		consumed, err := ds.Claims.Kustomizations.Of(ctx, other)
		if err != nil {
			return nil, err
		}
		if !consumed.ActHere() && (!ds.fresh(other) || !consumed.None()) {
			continue
		}
		r, err := ds.receiverOf(ctx, other, consumed, live, tick)
		if err != nil {
			return nil, err
		}
		receivers = append(receivers, r)
	}
	return receivers, nil
}

// fresh reports whether the spec of a selection is so new that its Kustomization, or its sources, may follow.
func (ds *Departures) fresh(cs *v1alpha1.CatalogSelection) bool {
	return ds.Claims.Ledger.Age(cs.UID, cs.Generation, ds.Now()) < leaving.Timeout
}

func (ds *Departures) receiverOf(ctx context.Context, cs *v1alpha1.CatalogSelection, consumed consumers.Consumers, live []*guard.Live, tick uint64) (receiver, error) {
	r := receiver{name: client.ObjectKeyFromObject(cs)}
	r.keys, r.known = ds.Claims.Ledger.Latest(cs.UID, cs.Generation)
	r.known, r.passed = r.known || ds.Rendered(cs), ds.Claims.Ledger.Passed(cs.UID)
	pending := !cs.Spec.Suspend && !ds.Claims.Ledger.EvaluatedSince(cs.UID, tick)
	r.open = !r.known || pending || ds.Claims.Ledger.Doubts(cs.UID, cs.Generation)
	r.stale = !pending && !ds.fresh(cs)
	if consumed.ActHere() && !cs.Spec.Suspend && cs.Status.Held == nil {
		seen, err := ds.Claims.Objects.Evidence(ctx, cs, consumed, live)
		if err != nil {
			return receiver{}, err
		}
		r.acts, r.seen = true, seen
	}
	return r, nil
}
