// SPDX-License-Identifier: Apache-2.0

// Package numbered orders versions by their semantic numbers, which some do not have.
//
// It must not know applications.
package numbered

import "github.com/Masterminds/semver/v3"

// Version is a version and its parsed form, which is nil for one that is not semantic.
type Version struct {
	Text   string
	Parsed *semver.Version
}

// Of returns the versions in the order in which they are given.
func Of(versions []string) []Version {
	all := make([]Version, 0, len(versions))
	for _, version := range versions {
		parsed, err := semver.NewVersion(version)
		if err != nil {
			parsed = nil
		}
		all = append(all, Version{Text: version, Parsed: parsed})
	}
	return all
}

// Descending orders versions, the highest first, and those that are not semantic last. Build metadata has no precedence.
func Descending(a, b Version) int {
	switch {
	case a.Parsed == nil && b.Parsed == nil:
		return 0
	case a.Parsed == nil:
		return 1
	case b.Parsed == nil:
		return -1
	default:
		return b.Parsed.Compare(a.Parsed)
	}
}

// Highest returns the highest semantic version, the first of equal ones, and the zero Version when there is none.
func Highest(versions []string) Version {
	var best Version
	for _, version := range Of(versions) {
		if Descending(version, best) < 0 {
			best = version
		}
	}
	return best
}

// Preferred returns the version that KKP installs of a definition without a default version: the highest, pre-releases included, or the
// first if that is not semantic; the zero Version without any.
func Preferred(versions []string) Version {
	all := Of(versions)
	if len(all) > 0 && all[0].Parsed == nil {
		return all[0]
	}
	return Highest(versions)
}
