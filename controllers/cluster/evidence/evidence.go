// SPDX-License-Identifier: Apache-2.0

// Package evidence reads from the owner labels of live objects what the Kustomizations of a selection have applied: a
// status proves nothing. It must not know how objects are read, nor who claims them.
package evidence

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Evidence is what the owner labels of live objects state about the Kustomizations of a selection. A status proves
// nothing: whoever owns a Kustomization can write it, or let it apply an empty build. It counts only for the objects of a
// kind that the controller may not read.
type Evidence struct {
	// Owns reports whether a live object names one of the Kustomizations.
	Owns bool
	// Applied has the live objects that name one of the Kustomizations, and their releases in the namespace of the
	// object; afar has the releases in other namespaces.
	Applied inventory.Keys
	afar    []consumers.Release
	// unread has the kinds that the controller may not read. reports is true if a Kustomization reports a revision.
	unread  map[schema.GroupKind]bool
	reports bool
}

// OwnsLike reports whether a live object of the kind and namespace of the key names one of the Kustomizations. Whoever may
// write one of another kind or namespace, such as a tenant in its own, can set its labels, and may write nothing else. The
// same holds for releases, which count in the namespace of their object.
func (e Evidence) OwnsLike(key safeguard.Key) bool {
	for applied := range e.Applied {
		if applied.Group == key.Group && applied.Kind == key.Kind && applied.Namespace == key.Namespace {
			return true
		}
	}
	return e.reportsOn(key)
}

// reportsOn reports whether only the Kustomizations themselves can tell what they have applied of the kind of the key, and
// say that they have applied something.
func (e Evidence) reportsOn(key safeguard.Key) bool {
	return e.reports && e.unread[schema.GroupKind{Group: key.Group, Kind: key.Kind}]
}

// Has reports whether a Kustomization has applied what a claimant claims by a key. at are the releases that the claimant
// has at home: an object of another namespace keeps none of its releases from a claimant that is at home in one of them,
// because anyone may write such an object, which Helm or an account may not obey.
func (e Evidence) Has(key safeguard.Key, at inventory.Keys) bool {
	yields := func(object safeguard.Key) bool {
		return slices.ContainsFunc(e.afar, func(r consumers.Release) bool { return r.Object == object && at[r.Key] })
	}
	return e.Applied[key] || slices.ContainsFunc(e.afar, func(r consumers.Release) bool { return r.Key == key && !yields(r.Object) })
}

// In returns the evidence in live objects, and for the unread kinds in what the Kustomizations report.
func In(live []*guard.Live, consumed consumers.Consumers, published []safeguard.Definition, unread map[schema.GroupKind]bool) Evidence {
	e := Evidence{Applied: inventory.Keys{}, unread: unread}
	for _, object := range live {
		if consumed.Include(guard.OwnerOf(object)) {
			e.Owns, e.Applied[guard.LiveKey(object)] = true, true
		}
	}
	reported := false
	for _, item := range consumed.Local() {
		e.reports = e.reports || item.Revision != ""
		reported = reported || item.Reason == ""
	}
	for key := range consumed.LiveKeys(published) {
		if reported && e.reportsOn(key) {
			e.Applied[key] = true
		}
	}
	for _, r := range consumed.Releases(published) {
		switch {
		case !e.Applied[r.Object]:
		case r.Home():
			e.Applied[r.Key] = true
		default:
			e.afar = append(e.afar, r)
		}
	}
	return e
}

// Dormant reports whether the Kustomizations of a selection are all suspended, and own nothing that lives, or that one of
// the claimed keys might be. Such a selection reserves nothing.
func (e Evidence) Dormant(consumed consumers.Consumers, claimed inventory.Keys) bool {
	for _, item := range consumed.Local() {
		if !item.Suspended {
			return false
		}
	}
	for key := range claimed {
		if e.reportsOn(key) {
			return false
		}
	}
	return !e.Owns
}
