// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Verdict are the changes of a new render. Every list is part of the one before.
type Verdict struct {
	// Changes are all losses, identity and source changes, and major upgrades.
	Changes []safeguard.Change
	// ByCatalog are the changes that an edit of the spec does not excuse. It includes Next's Adopted and
	// Pruned, which an edit never excuses.
	ByCatalog []safeguard.Change
	// Held are those that the safeguards hold, unless they are approved. A change of several versions may be two here:
	// what new revisions cause alone, and the rest.
	Held []safeguard.Change
	// LosingEdit reports whether the spec was edited since the last publication and a published definition,
	// or a version of one, is lost.
	LosingEdit bool
}

// Decide compares the next publication with the last one.
//
// A loss is excused only if the new spec over the catalogs of the last publication causes it too: the
// review of the edit could see it.
func Decide(ctx context.Context, last Published, next Next) Verdict {
	changes := explained(safeguard.Compare(last.Definitions, next.Result.Compared()), next.Result.Unresolved)
	unknown := unknownNames(last, next, changes)
	v := Verdict{Changes: slices.Concat(changes, next.Adopted, besides(next.Pruned, changes), unknown)}
	if len(changes) > 0 && edited(last, next) {
		v.LosingEdit = slices.ContainsFunc(changes, safeguard.Change.Loses)
		changes = safeguard.Unexcused(changes, byEdit(ctx, last, next, changes))
	}
	others := slices.Concat(next.Adopted, besides(next.Pruned, changes), unknown)
	changes = slices.DeleteFunc(changes, func(c safeguard.Change) bool { return isNamed(c, next.Result.Instances) })
	v.ByCatalog = slices.Concat(changes, others)
	held := func(changes []safeguard.Change) []safeguard.Change {
		return slices.DeleteFunc(slices.Clone(changes), func(c safeguard.Change) bool {
			return !Holds(next.Selection.Spec.Safeguards, c) && !c.OfPlatform()
		})
	}
	v.Held = slices.Concat(attributed(ctx, last, next, held(changes)), held(others))
	return v
}

// besides returns the pruned objects that the changes do not remove.
func besides(pruned, changes []safeguard.Change) []safeguard.Change {
	removed := map[safeguard.Key]bool{}
	for _, c := range changes {
		removed[c.Key] = removed[c.Key] || c.Reason == v1alpha1.RemovalReason
	}
	return slices.DeleteFunc(slices.Clone(pruned), func(c safeguard.Change) bool { return removed[c.Key] })
}

// isNamed reports whether a change leads to a version that the spec names exactly for the instance: whoever named it has
// decided about it.
func isNamed(c safeguard.Change, instances []installation.Instance) bool {
	if c.Reason != v1alpha1.InstanceUpgradeReason && c.Reason != v1alpha1.VersionRemovalReason {
		return false
	}
	return slices.ContainsFunc(instances, func(in installation.Instance) bool { return in.Name == c.Instance && in.Named })
}

// Holds reports whether a safeguard holds a change. A safeguard that is empty, in a spec
// that the API server has not seen, has the default of the API.
func Holds(s v1alpha1.Safeguards, c safeguard.Change) bool {
	switch c.Reason {
	case v1alpha1.InstanceUpgradeReason:
		return s.OnInstanceUpgrade == v1alpha1.SafeguardHold || s.OnInstanceUpgrade != v1alpha1.SafeguardPublish && c.IsMajor()
	case v1alpha1.RemovalReason:
		return s.OnRemoval != v1alpha1.SafeguardPublish
	case v1alpha1.VersionRemovalReason, v1alpha1.AdoptionReason, v1alpha1.StrandedReason:
		return s.OnVersionRemoval != v1alpha1.SafeguardPublish
	case v1alpha1.IdentityChangeReason:
		return s.OnIdentityChange != v1alpha1.SafeguardPublish
	case v1alpha1.SourceChangeReason:
		return s.OnSourceChange == v1alpha1.SafeguardHold
	case v1alpha1.MajorUpgradeReason:
		return s.OnMajorUpgrade == v1alpha1.SafeguardHold
	}
	return true
}
