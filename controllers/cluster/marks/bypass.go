// SPDX-License-Identifier: Apache-2.0

package marks

import (
	"context"
	"errors"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// SyncBypass sets the annotation that disables Flux on the bypassed definitions that a selection holds,
// and removes it from definitions whose bypass has ended:
//
//	label   mark                               selection      change
//	yes     none                               the holder     sets it, by server-side apply
//	yes     of Winnow                          the holder     removes it, with bypass: Ignore
//	yes     not of Winnow                                     nothing
//	no      of Winnow                          any that acts  removes it, by server-side apply
//	no      of the admission policy            any that acts  removes it, by a patch of the version read
//	no      not of Winnow                                     nothing
//
// The holder is the selection whose Kustomization is in the owner labels, or, if no Kustomization has applied
// the definition, the one that has reserved it. SyncBypass returns the names of the bypassed definitions
// that the selection holds. Errors are temporary: a missing right is reported by an event instead.
func (m *Marks) SyncBypass(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State) (names []string, err error) {
	if !state.MayAct(cs) {
		return nil, nil
	}
	var errs []error
	for object := range live.Definitions(state.Live) {
		if !guard.Bypassed(object) {
			if err := m.endBypass(ctx, cs, object); err != nil {
				errs = append(errs, err)
			}
			continue
		}
		holds, err := m.holds(ctx, cs, object, state)
		if err != nil {
			return nil, err
		}
		honored := guard.Honored(cs, object)
		if holds && honored {
			names = append(names, object.Name)
		}
		if holds && (!honored || !guard.Untouched(object)) {
			_, err := m.Mark(ctx, cs, object, func(s *Set) { s.Bypass = honored })
			errs = append(errs, err)
		}
	}
	return names, errors.Join(errs...)
}

// endBypass removes the mark from a definition whose bypass has ended. No field manager owns one that the admission policy has set: the
// resource version makes the patch fail if the label is back, with which the policy would set the mark again.
func (m *Marks) endBypass(ctx context.Context, cs *v1alpha1.CatalogSelection, object *guard.Live) error {
	if object.Annotations[v1alpha1.BypassMarkAnnotation] != "" && !guard.Owns(object, guard.ReconcileAnnotation) {
		return m.patch(ctx, cs, object, map[string]any{
			"uid": object.UID, "resourceVersion": object.ResourceVersion,
			"annotations": map[string]any{guard.ReconcileAnnotation: nil, v1alpha1.BypassMarkAnnotation: nil},
		})
	}
	_, err := m.Mark(ctx, cs, object, func(s *Set) { s.Bypass = false })
	return err
}

// holds reports whether a selection holds a live definition: its Kustomization is in the owner labels, or no
// Kustomization of this cluster is, and the selection has reserved the definition.
func (m *Marks) holds(ctx context.Context, cs *v1alpha1.CatalogSelection, object *guard.Live, state *live.State) (bool, error) {
	key, owner := guard.LiveKey(object), guard.OwnerOf(object)
	switch {
	case !state.Consumers.Known:
		return state.Served[key] || guard.AppliedBy(cs, object), nil
	case state.Consumers.Include(owner):
		return true, nil
	case !state.Served[key]:
		return false, nil
	}
	acts, err := m.Holders.Kustomizations.ActsHere(ctx, cs, owner)
	return !acts, err
}

// MarkEntering sets the mark of the bypass on the bypassed definitions that are about to be published, and on
// those that a Kustomization of the selection has applied, which might delete them. It reports whether all of
// them are marked: Flux overwrites the others.
func (m *Marks) MarkEntering(ctx context.Context, cs *v1alpha1.CatalogSelection, state *live.State, next []safeguard.Definition) (bool, error) {
	all, entering := true, state.Consumers.LiveKeys(next)
	for object := range live.Definitions(state.Live) {
		if !guard.Honored(cs, object) || guard.Untouched(object) ||
			!entering[guard.LiveKey(object)] && !state.Consumers.Include(guard.OwnerOf(object)) {
			continue
		}
		done, err := m.Mark(ctx, cs, object, func(s *Set) { s.Bypass = true })
		if err != nil {
			return false, err
		}
		if !done && !state.Unmarked[object.UID] {
			all = false
			state.Unmarked[object.UID] = true
		}
	}
	return all, nil
}
