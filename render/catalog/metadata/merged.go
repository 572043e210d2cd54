// SPDX-License-Identifier: Apache-2.0

package metadata

import (
	"cmp"
	"maps"
	"slices"
)

// The facts on versions that come from several catalogs, and from an application and a version.

// With returns metadata in which the facts on added versions come from the catalog that adds them, which has from. What
// one of the catalogs locks is locked.
func (m Metadata) With(added []string, from Metadata) Metadata {
	isAdded := func(v Version) bool { return slices.Contains(added, v.Name) }
	facts := slices.DeleteFunc(slices.Clone(m.Versions), isAdded)
	for _, v := range from.Versions {
		if isAdded(v) {
			facts = append(facts, v)
		}
	}
	slices.SortFunc(facts, func(v, w Version) int { return cmp.Compare(v.Name, w.Name) })
	m.Versions = facts
	m.LockedValues = union(m.LockedValues, from.LockedValues)

	plain := map[string]any{}
	own, _ := m.Extra[VersionsKey].(map[string]any)
	others, _ := from.Extra[VersionsKey].(map[string]any)
	maps.Copy(plain, own)
	for _, name := range added {
		delete(plain, name)
		if fact, ok := others[name]; ok {
			plain[name] = fact
		}
	}
	if len(plain) > 0 || len(own) > 0 {
		m.Extra = maps.Clone(m.Extra)
		if m.Extra == nil {
			m.Extra = map[string]any{}
		}
		m.Extra[VersionsKey] = plain
	}
	return m
}

// LockedIn returns the sorted paths of the locked values of a version: its own, and the ones of the application.
func (m Metadata) LockedIn(version string) []string {
	return union(m.LockedValues, m.Versions.Of(version).LockedValues)
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
