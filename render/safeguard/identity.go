// SPDX-License-Identifier: Apache-2.0

package safeguard

import (
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/identity"
)

// IdentityChanges returns a change for each field of the identity that both sides have and that differs, and for each that an
// object of the same kind has lost: it changes to nothing.
func IdentityChanges(before, now Definition) []Change {
	before.Identity, now.Identity = withGroup(before.Identity, now.Identity), withGroup(now.Identity, before.Identity)
	next := map[string]string{}
	maps.Copy(next, now.Identity)
	for field := range before.Identity {
		_, known := now.identityAt(field)
		if known || before.Kind != now.Kind || field == ChartField || field == TargetsField { // objects beside it may decide these
			continue
		}
		next[field] = ""
	}
	var changes []Change
	for _, field := range slices.Sorted(maps.Keys(next)) {
		to := next[field]
		from, known := before.identityAt(field)
		if known && from != to {
			changes = append(changes, before.changeOf(v1alpha1.IdentityChangeReason, field, from, to))
		}
	}
	return changes
}

// withGroup returns the identity of a definition of Cozystack with the group that it has by default, which is not recorded, if the
// other side has one.
func withGroup(fields, other map[string]string) map[string]string {
	if fields[identity.Kind] == "" || fields[identity.Group] != "" || other[identity.Group] == "" {
		return fields
	}
	fields = maps.Clone(fields)
	fields[identity.Group] = kinds.CozystackApps
	return fields
}

// identityAt returns the value of a field of the identity, and whether it is known. The prefix may stand at the path of
// another backend.
func (d Definition) identityAt(field string) (value string, known bool) {
	if value, known = d.Identity[field]; known || !identity.IsPrefix(field) {
		return value, known
	}
	for _, path := range slices.Sorted(maps.Keys(d.Identity)) {
		if identity.IsPrefix(path) {
			return d.Identity[path], true
		}
	}
	return "", false
}

// sourceChange returns the change of the versions that stay, but have another origin; none if there are none.
func sourceChange(before, now Definition) []Change {
	change, differs := before.change(v1alpha1.SourceChangeReason), false
	differ := func(from, to string) bool { return known(from) && known(to) && !sameOrigin(from, to) }
	if len(before.Versions) == 0 && len(now.Versions) == 0 {
		differs = differ(before.origin(0), now.origin(0))
	}
	after := make(map[string]string, len(now.Versions))
	for i, version := range now.Versions {
		if _, twice := after[version]; !twice {
			after[version] = now.origin(i)
		}
	}
	for i, version := range before.Versions {
		if differ(before.origin(i), after[version]) && !slices.Contains(change.Versions, version) {
			change.Versions = append(change.Versions, version)
		}
	}
	if !differs && len(change.Versions) == 0 {
		return nil
	}
	return []Change{change}
}
