// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// NewTransient returns the temporary losses when a spec and its catalogs change at once: the cluster
// gets the spec first, and the catalogs after Flux has pulled them. It returns nil for none.
//
//	edited   the newer spec over the older catalogs
//	updated  the older spec over the newer catalogs
//
// Either is nil if it cannot be rendered, so that it is not published.
func NewTransient(from, to, edited, updated *Side) *diff.Transient {
	lost := lostBetween(from, edited, to)
	if len(lost) == 0 {
		return nil
	}
	t := &diff.Transient{Advice: diff.WidenFirst}
	if updated != nil && updated.Empty == nil && len(lostBetween(from, updated, to)) == 0 {
		t.Advice = diff.CatalogFirst
	}
	before := safeguard.ByKey(from.result().Compared())
	for _, c := range lost {
		l := diff.Loss{
			Application: applicationOf(c), Instance: c.Instance, APIVersion: before[c.Key].APIVersion, Kind: c.Key.Kind,
			Change: diff.Updated, Versions: append([]string{}, c.Versions...),
		}
		if c.Reason == v1alpha1.RemovalReason {
			l.Change, l.Reason = diff.Removed, whyGone(c, edited)
		}
		t.Losses = append(t.Losses, l)
	}
	return t
}

// lostBetween returns the losses from one state to an intermediate one that the last state does not have. An
// empty state is not published.
func lostBetween(from, way, to *Side) []safeguard.Change {
	if from == nil || way == nil || way.Empty != nil || from.Empty != nil {
		return nil
	}
	lost := slices.DeleteFunc(safeguard.Compare(from.result().Compared(), way.result().Compared()), func(c safeguard.Change) bool {
		return c.Reason != v1alpha1.RemovalReason && c.Reason != v1alpha1.VersionRemovalReason
	})
	return safeguard.Unexcused(lost, safeguard.Compare(from.result().Compared(), to.result().Compared()))
}

// whyGone returns why a state does not have a definition or an instance.
func whyGone(c safeguard.Change, side *Side) string {
	if c.Instance == "" {
		return guard.WhyGone(c.Key, side.Result.Selection)
	}
	for _, u := range side.result().Unresolved {
		if u.Name == c.Instance {
			return u.Reason
		}
	}
	return notInSpec
}

// Explain replaces the reasons of removals that the newer spec alone causes: the newer catalogs may not have
// the application any more, so that the spec refuses nothing. edited is the newer spec over the older
// catalogs.
func Explain(s *diff.Selection, edited *Side) {
	if edited == nil {
		return
	}
	for i := range s.Applications {
		a := &s.Applications[i]
		if a.Change == diff.Removed && a.Cause == diff.CauseSpec {
			a.Reason = guard.WhyGone(a.Key(), edited.Result.Selection)
		}
	}
}
