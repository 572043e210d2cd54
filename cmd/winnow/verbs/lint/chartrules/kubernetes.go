// SPDX-License-Identifier: Apache-2.0

package chartrules

import (
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/render/catalog/metadata"
)

// The minor versions of Kubernetes that are known: all since the first one that removed APIs.
const (
	newestMinor = 36
	oldestMinor = 16
)

// Kubernetes returns the versions of Kubernetes to render a version of an application for. If versions of a platform satisfy the
// requirements, it returns the first one of each minor version; or else the newest known one that does, and if none does, the
// newest one.
func Kubernetes(requires []metadata.Requirement, platform []string) (versions []string) {
	minors := map[string]bool{}
	for _, one := range platform {
		minor := Minor(one)
		if !minors[minor] && satisfies(one, requires) {
			minors[minor] = true
			versions = append(versions, one)
		}
	}
	if len(versions) == 0 {
		return []string{newest(requires)}
	}
	slices.SortFunc(versions, func(a, b string) int { return semver.MustParse(a).Compare(semver.MustParse(b)) })
	return versions
}

// newest returns the newest version that satisfies requirements, or else the newest one.
func newest(requires []metadata.Requirement) string {
	for minor := newestMinor; minor >= oldestMinor; minor-- {
		for _, patch := range []int{0, 99} { // a range may begin at a patch version
			if one := fmt.Sprintf("1.%d.%d", minor, patch); satisfies(one, requires) {
				return one
			}
		}
	}
	return fmt.Sprintf("1.%d.0", newestMinor)
}

// Minor returns the first two numbers of a version.
func Minor(version string) string {
	parsed, err := semver.NewVersion(version)
	if err != nil {
		return version
	}
	return fmt.Sprintf("%d.%d", parsed.Major(), parsed.Minor())
}

// satisfies reports whether a version of Kubernetes meets the requirements on it.
func satisfies(version string, requires []metadata.Requirement) bool {
	parsed, err := semver.NewVersion(version)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(requires, func(r metadata.Requirement) bool {
		constraint, err := semver.NewConstraint(r.Constraint)
		return r.Component == "kubernetes" && (err != nil || !constraint.Check(parsed))
	})
}
