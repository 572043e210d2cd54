// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Named is what Git names of the losses of a publication. The zero value names nothing, and has the default safeguards.
type Named struct {
	Safeguards v1alpha1.Safeguards
	// Exclude are the names in spec.exclude.
	Exclude []string
	// Exact are the instances whose version spec.instances names exactly.
	Exact []string
	// Lines of spec.safeguards.approve that count, and Base the lines that the base of a pull request has as well.
	Lines, Base []approval.Line

	// empty is true for a publication without anything.
	empty bool
}

// NamedBy returns what a selection names of the losses of its render, without lines.
func NamedBy(cs *v1alpha1.CatalogSelection, instances []installation.Instance) Named {
	exact := each.Where(instances, func(in installation.Instance) bool { return in.Named })
	return Named{
		Safeguards: cs.Spec.Safeguards, Exclude: cs.Spec.Exclude,
		Exact: each.Map(exact, func(in installation.Instance) string { return in.Name }),
	}
}

// passes reports whether a change needs no line.
func (n Named) passes(c safeguard.Change) bool {
	always := c.OfPlatform() || c.Dependent || n.empty && c.Reason == v1alpha1.RemovalReason
	if !always && !Holds(n.Safeguards, c) {
		return true
	}
	switch {
	case c.Instance != "":
		leads := c.Reason == v1alpha1.InstanceUpgradeReason && c.Field != safeguard.ChannelField || c.Reason == v1alpha1.VersionRemovalReason
		return leads && slices.Contains(n.Exact, c.Instance)
	case c.Reason == v1alpha1.RemovalReason && !c.Live:
		return slices.Contains(n.Exclude, c.Key.Name)
	}
	return false
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
