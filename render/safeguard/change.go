// SPDX-License-Identifier: Apache-2.0

package safeguard

import (
	"cmp"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Change is a loss, a change or a major upgrade of one definition.
type Change struct {
	// Reason is one of the reasons of api/v1alpha1: Removal, IdentityChange, VersionRemoval,
	// Stranded, Adoption, SourceChange, InstanceUpgrade, LockedValue or MajorUpgrade.
	Reason string
	// Key of the definition, or of the main object of an instance.
	Key Key
	// Instance, and the Application that it installs; empty for a definition.
	Instance, Application string
	// Versions that are lost, in the order of the older definition: all of them for a Removal, none for a
	// MajorUpgrade. For a SourceChange, those with another origin; none if the definition has no versions.
	Versions []string
	// Channel of a Stranded. From is the one that it takes the place of as default channel; empty where both are one.
	Channel string
	// From and To are the highest versions before and after a MajorUpgrade, the versions of an instance before and after
	// an InstanceUpgrade or a VersionRemoval, or the values of Field before and after an IdentityChange or, if that is
	// the ChannelField, an InstanceUpgrade. Of a LockedValue they are digests, which are not to be shown.
	From, To string
	// Consumer is <namespace>/<name> of the Kustomization whose inventory has the removed object; empty
	// for an object that was published.
	Consumer string
	// Field is, for an IdentityChange, the path of the field that changes, and for a LockedValue the path of the value.
	Field string
	// Detail is appended to the description of the change.
	Detail string
	// Live is true for what lives in a cluster, or is in the inventory of a Kustomization, and was never published here.
	// Package guard sets it.
	Live bool
	// Dependent is true for an instance that leaves because one that it depends on does. Package guard sets it.
	Dependent bool
	// Unreadable is true for a change of a live object that the account of the selection may not read: Versions, From and
	// Detail must not be shown.
	Unreadable bool
}

// change returns a change of the definition.
func (d Definition) change(reason string) Change {
	return Change{Reason: reason, Key: d.Key(), Instance: d.Instance, Application: d.Application}
}

// changeOf is change of a field, if it has a name, from one value to another.
func (d Definition) changeOf(reason, field, from, to string) Change {
	change := d.change(reason)
	change.Field, change.From, change.To = field, from, to
	return change
}

// OfPlatform reports whether the change is the adoption of a definition that the platform's own controllers
// reconcile, which is held whatever the safeguards are: they would fight with Flux over it.
func (c Change) OfPlatform() bool {
	return c.Reason == v1alpha1.AdoptionReason && len(c.Versions) == 0
}

// Loses reports whether the change removes a definition or versions of it, or changes its identity.
func (c Change) Loses() bool {
	return c.Reason != v1alpha1.MajorUpgradeReason && c.Reason != v1alpha1.SourceChangeReason && c.Reason != v1alpha1.InstanceUpgradeReason &&
		c.Reason != v1alpha1.LockedValueReason
}

// Sort sorts changes by name, then by kind and reason.
func Sort(changes []Change) {
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Key.FullName(), b.Key.FullName()), cmp.Compare(a.Key.Group, b.Key.Group),
			cmp.Compare(a.Key.Kind, b.Key.Kind), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Field, b.Field),
			cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.From, b.From))
	})
}
