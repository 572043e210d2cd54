// SPDX-License-Identifier: Apache-2.0

// Package guard decides which losses of a new publication are held, why, and which lines name them: for the controller
// before it publishes, and for the command line in a pull request. A publication loses nothing that Git has not named.
//
// It is pure. It must not know catalogs, edits of a spec or how the last publication was recorded, how clusters are read, nor
// how the controller holds a change.
package guard

import (
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Next is what is about to be published.
type Next struct {
	// Definitions as kustomize builds them, with the main objects of instances and the contents.
	Definitions []safeguard.Definition
	// Unresolved are the instances of the spec that it lacks.
	Unresolved []instance.Unresolved
	// Live are the losses of what lives in a cluster, or is in the inventory of a Kustomization, and was never published here.
	Live []safeguard.Change
}

// Verdict are the changes of a publication.
type Verdict struct {
	// Changes are all losses, identity and source changes, and major upgrades.
	Changes []safeguard.Change
	// Held are the losses that nothing names, the most harmful first, BaseApproved those that only lines of the base name, and
	// Named those that others name. A change of several versions may be a part of each.
	Held, BaseApproved, Named []safeguard.Change
	// Uses are the lines that name one of the changes: a publication uses them.
	Uses []approval.Line
}

// Decide compares the next publication with the last one. A change is held unless the safeguards let its kind pass, or Git
// names it, whatever causes it:
//
//  1. What the last publication has and the next one lacks is lost, as is a change of an identity.
//  2. What lives, and was never published here, is lost besides.
//  3. A safeguard that is Publish lets its kind pass: but no removal of an instance because another one left, of everything,
//     or of what the platform reconciles.
//  4. spec.exclude names a definition, and an exact version in spec.instances the upgrade of that instance.
//  5. A line names the rest; one of the base alone is not enough.
func Decide(last []safeguard.Definition, next Next, named Named) Verdict {
	changes := explained(safeguard.Compare(last, next.Definitions), next.Unresolved)
	var v Verdict
	for _, c := range next.Live {
		if c.Live = true; c.Reason != v1alpha1.RemovalReason || !isRemoved(changes, c.Key) {
			v.Changes = append(v.Changes, c)
		}
	}
	v.Changes = slices.Concat(changes, v.Changes)
	named.empty = len(next.Definitions) == 0
	needed := byHarm(slices.DeleteFunc(slices.Clone(v.Changes), named.passes))
	left, lined := split(needed, named.Lines)
	v.Named = lined
	v.Held, v.BaseApproved = split(left, named.Base)
	v.Uses = slices.DeleteFunc(slices.Clone(named.Lines), func(l approval.Line) bool {
		return !NamesAny(l, v.Changes)
	})
	return v
}

// Approved reports whether lines were needed, and name everything.
func (v Verdict) Approved() bool { return len(v.Named) > 0 && len(v.Held)+len(v.BaseApproved) == 0 }

// isRemoved reports whether the changes remove an object.
func isRemoved(changes []safeguard.Change, key safeguard.Key) bool {
	return slices.ContainsFunc(changes, func(c safeguard.Change) bool { return c.Key == key && c.Reason == v1alpha1.RemovalReason })
}

// explained returns changes in which instances are gone for a reason, with the remedy, and one whose version is gone loses it.
func explained(changes []safeguard.Change, unresolved []instance.Unresolved) []safeguard.Change {
	for i, c := range changes {
		j := slices.IndexFunc(unresolved, func(u instance.Unresolved) bool { return u.Name == c.Instance })
		if c.Reason != v1alpha1.RemovalReason || c.Instance == "" || j < 0 {
			continue
		}
		remedy := "; name another version in spec.instances, or remove the instance from it"
		switch {
		case unresolved[j].OfVersion:
			changes[i].Reason = v1alpha1.VersionRemovalReason
		case unresolved[j].OffPlatform:
			remedy = "; add it there, or remove the instance from spec.instances"
		}
		changes[i].Detail, changes[i].Dependent = unresolved[j].Reason+remedy, unresolved[j].Dependent
	}
	return changes
}
