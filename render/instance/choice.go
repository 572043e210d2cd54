// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/selection/numbered"
)

// Choice states how the version of an instance comes about.
type Choice string

// Choices.
const (
	// ChoiceExact: the spec names the version.
	ChoiceExact Choice = "exact"
	// ChoiceRange: it is the highest of a range.
	ChoiceRange Choice = "range"
	// ChoiceDefault: it is the default version of the definition.
	ChoiceDefault Choice = "default"
	// ChoiceLatest: it is what KKP takes of the selection, mostly the highest, because the definition has no default version.
	ChoiceLatest Choice = "latest"
	// ChoiceNone: the definition has no versions.
	ChoiceNone Choice = "none"
)

// Choose returns how the version comes about, and the selected versions that the spec allows: of a range the highest
// first.
func (s Spec) Choose(d selection.Decision) (Choice, []string) {
	if of := catalog.PackageOf(d.Kept); of != nil {
		return s.choosePackage(of)
	}
	choice, in := s.chooseDefinition(d)
	if choice == ChoiceRange {
		slices.SortStableFunc(in, func(a, b string) int {
			return semver.MustParse(b).Compare(semver.MustParse(a)) // both have been parsed
		})
	}
	return choice, in
}

// chooseDefinition is Choose of a definition, with the versions of a range in the order of the definition.
func (s Spec) chooseDefinition(d selection.Decision) (Choice, []string) {
	switch {
	case len(d.Application.Versions) == 0:
		return ChoiceNone, nil
	case s.Version == "" && d.Application.DefaultVersion == "":
		latest := numbered.Preferred(d.Versions).Text
		return ChoiceLatest, each.Where(d.Versions, func(version string) bool { return version == latest })
	case s.Version == "":
		return ChoiceDefault, each.Where(d.Versions, func(version string) bool { return version == d.Application.DefaultVersion })
	case s.constraint == nil || slices.Contains(d.Versions, s.Version):
		return ChoiceExact, each.Where(d.Versions, s.IsNamed)
	}
	return ChoiceRange, each.Where(d.Versions, s.allows)
}

// choosePackage is Choose of a package.
func (s Spec) choosePackage(p *filebased.Package) (Choice, []string) {
	in := p.BundlesIn(s.given.Channels)
	if s.Backend == backend.Subscription {
		in = nil
		if head := s.head(p); head != nil { // there may be no such channel
			in = []*filebased.Bundle{head}
		}
	}
	names := each.Map(s.matching(in), func(bundle *filebased.Bundle) string { return bundle.Name })
	switch {
	case s.Version == "":
		return ChoiceDefault, names[:min(len(names), 1)]
	case s.constraint == nil || len(names) == 1 && names[0] == s.Version:
		return ChoiceExact, names[:min(len(names), 1)]
	}
	return ChoiceRange, names
}

// The version of a definition that a spec means, out of those that are selected.

// maxListedVersions bounds the versions in a message.
const maxListedVersions = 10

// listed lists the first of many versions.
func listed(versions []string) string { return excerpt.Names(versions, maxListedVersions) }

// allows reports whether a version is in the range of the spec.
func (s Spec) allows(version string) bool {
	parsed, err := semver.NewVersion(version)
	return err == nil && s.constraint.Check(parsed)
}

// IsNamed reports whether the spec names exactly this version, so that no catalog decides about it. A range names none,
// even where a catalog has a version that is called like it.
func (s Spec) IsNamed(version string) bool {
	if s.Version == "" || s.constraint != nil {
		return false
	}
	return s.Version == version || IsExact(s.Version) && strings.TrimPrefix(s.Version, "v") == strings.TrimPrefix(version, "v")
}
