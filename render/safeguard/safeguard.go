// SPDX-License-Identifier: Apache-2.0

// Package safeguard compares the definitions of a new render with those that were published, or that live
// in a cluster, and returns the changes: removed applications and versions, changed identities and
// sources, and major upgrades.
//
// It is pure, so that the command line names in a pull request the changes that the controller will hold.
// It must not know where either side comes from, nor how a change is held.
package safeguard

import (
	"cmp"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Compare returns the changes from the older to the newer definitions, sorted by name, then by
// reason: Removal of a definition; and for one that stays IdentityChange for each field that
// decides which live releases are meant, SourceChange of versions that stay, VersionRemoval, and
// MajorUpgrade when the major of the highest semantic version rises. A package of operators loses only what is
// Stranded in a channel. Instances are compared by their names, with an
// InstanceUpgrade for another version, or a VersionRemoval for a lower one, and a LockedValue for each. One that is gone while another one gets its
// release has an IdentityChange, and a LockedValue for each that changes with it.
func Compare(older, newer []Definition) []Change {
	after, instances := ByKey(newer), byInstance(newer)
	var changes []Change
	for _, before := range older {
		now, stays := after[before.Key()]
		if before.Instance != "" {
			now, stays = instances[before.Instance]
		}
		if !stays {
			changes = append(changes, gone(before, newer)...)
			continue
		}
		changes = append(changes, IdentityChanges(before, now)...)
		changes = append(changes, sourceChange(before, now)...)
		if before.Instance != "" {
			changes = append(changes, instanceChanges(before, now)...)
			changes = append(changes, lockedChanges(before, now)...)
			continue
		}
		if before.Package != nil && now.Package != nil {
			changes = append(changes, packageChanges(before, now)...)
			continue
		}
		if lost := missing(before.Versions, now.Versions); len(lost) > 0 {
			removal := before.change(v1alpha1.VersionRemovalReason)
			removal.Versions = lost
			changes = append(changes, removal)
		}
		changes = append(changes, before.majorRise(before.Versions, now.Versions)...)
	}
	Sort(changes)
	return changes
}

// gone returns the change of a definition, or an instance, that the newer ones lack.
func gone(before Definition, newer []Definition) []Change {
	if next, inherits := heir(before, newer); inherits {
		return append(lockedChanges(before, next), before.changeOf(v1alpha1.IdentityChangeReason, InstanceField, before.Instance, next.Instance))
	}
	removal := before.change(v1alpha1.RemovalReason)
	removal.Versions = before.Versions
	return []Change{removal}
}

// Adopt returns the losses of live definitions when the newer ones are applied over them: an Adoption
// for each with versions that the newer one lacks, and an IdentityChange for each field that decides which
// live releases are meant. Live definitions that newer does not have are ignored.
func Adopt(live, newer []Definition) []Change {
	after := ByKey(newer)
	var changes []Change
	for _, before := range live {
		now, enters := after[before.Key()]
		if !enters {
			continue
		}
		if now.Instance != "" {
			before.Instance, before.Application = now.Instance, cmp.Or(before.Application, now.Application)
			before.Versions = now.Versions // the spec decides
			changes = append(changes, instanceChanges(before, now)...)
		}
		if lost := missing(before.Versions, now.Versions); len(lost) > 0 {
			changes = append(changes, Change{
				Reason: v1alpha1.AdoptionReason, Key: before.Key(), Versions: lost,
			})
		}
		changes = append(changes, IdentityChanges(before, now)...)
	}
	Sort(changes)
	return changes
}
