// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// The version of a definition that a spec means, out of those that are selected.

// maxListedVersions bounds the versions in a message.
const maxListedVersions = 10

// listed lists the first of many versions.
func listed(versions []string) string { return excerpt.Names(versions, maxListedVersions) }

// defaultVersion returns the default version of a definition, if it is selected.
func defaultVersion(d selection.Decision) (version, problem string) {
	name, version := d.Application.Name, d.Application.DefaultVersion
	if !slices.Contains(d.Versions, version) {
		return "", fmt.Sprintf("is missing, and the default version %s of %s is not selected; name one of %s", excerpt.Of(version), name, listed(d.Versions))
	}
	return version, ""
}

// latestVersion returns the version that KKP installs of a definition without a default version: the highest, pre-releases
// included.
func latestVersion(d selection.Decision) (version, problem string) {
	best := safeguard.Highest(d.Versions)
	if best == nil {
		return "", fmt.Sprintf("is missing: the definition of %s has no default version, and none of its versions is a semantic one; name one of %s",
			d.Application.Name, listed(d.Versions))
	}
	return best.Original(), ""
}

// highest returns the highest version that satisfies the constraint; of equal ones the first. It is empty if
// there is none.
func highest(versions []string, constraint *semver.Constraints) string {
	best := safeguard.Highest(slices.DeleteFunc(slices.Clone(versions), func(version string) bool {
		parsed, err := semver.NewVersion(version)
		return err != nil || !constraint.Check(parsed)
	}))
	if best == nil {
		return ""
	}
	return best.Original()
}

// IsNamed reports whether the spec names exactly this version, so that no catalog decides about it. A range names none,
// even where a catalog has a version that is called like it.
func (s Spec) IsNamed(version string) bool {
	if s.Version == "" || s.constraint != nil {
		return false
	}
	return s.Version == version || IsExact(s.Version) && strings.TrimPrefix(s.Version, "v") == strings.TrimPrefix(version, "v")
}
