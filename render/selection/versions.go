// SPDX-License-Identifier: Apache-2.0

package selection

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/selection/numbered"
)

// maxConstraint bounds a constraint in bytes, as the API does.
const maxConstraint = 256

// VersionRule narrows the versions of applications. NewVersionRule returns one; the zero value keeps all
// versions.
type VersionRule struct {
	v1alpha1.VersionRule
	listed, channels sets.Set[string]
	constraint       *semver.Constraints
}

// dropsDeprecated reports whether the rule drops the versions that the metadata.yaml deprecates, and the deprecated channels
// of a content.
func (r VersionRule) dropsDeprecated() bool { return r.Deprecated == v1alpha1.DeprecatedDrop }

// NewVersionRule returns a rule that keeps the versions that satisfy all criteria.
//
// A leading v is accepted in versions and constraints. A pre-release satisfies only a constraint that names
// one. A version that is not a semantic version satisfies no constraint and is the lowest.
func NewVersionRule(criteria v1alpha1.VersionRule) (VersionRule, error) {
	switch constraint, latest := criteria.Constraint, criteria.Latest; {
	case latest < 0:
		return VersionRule{}, fmt.Errorf("latest must not be negative, but is %d", latest)
	case constraint == "" && latest == 0 && len(criteria.Channels) == 0 && criteria.Deprecated != v1alpha1.DeprecatedDrop && criteria.DefaultChannel == "":
		return VersionRule{}, errors.New("constraint, latest, channels, deprecated: Drop or defaultChannel is needed")
	case len(constraint) > maxConstraint:
		return VersionRule{}, fmt.Errorf("constraint is longer than %d bytes", maxConstraint)
	}
	rule := VersionRule{VersionRule: criteria, listed: sets.New(criteria.Names...), channels: sets.New(criteria.Channels...)}
	if criteria.Constraint == "" {
		return rule, nil
	}
	parsed, err := semver.NewConstraint(criteria.Constraint)
	if err != nil {
		return VersionRule{}, fmt.Errorf("the constraint %s is no range of versions, such as \">=1.0.0 <2.0.0\" or \"~1.4\"", excerpt.Quoted(criteria.Constraint))
	}
	rule.constraint = parsed
	return rule, nil
}

// concerns reports whether the rule applies to an application.
func (r VersionRule) concerns(application *catalog.Application) bool {
	return len(application.Versions) > 0 && (len(r.Names) == 0 || r.listed.Has(application.Name))
}

// admits reports whether a version satisfies all criteria but latest.
func (r VersionRule) admits(version numbered.Version, facts metadata.Version) bool {
	if r.constraint != nil && (version.Parsed == nil || !r.constraint.Check(version.Parsed)) {
		return false
	}
	if r.dropsDeprecated() && facts.Deprecated != "" {
		return false
	}
	return len(r.channels) == 0 || r.channels.HasAny(facts.Channels...)
}

// keep returns the versions that stay, in their order. Equal ones, such as 1.0.0+1 and 1.0.0+2, count as one.
func (r VersionRule) keep(versions []string, facts metadata.Versions) []string {
	all := slices.DeleteFunc(numbered.Of(versions), func(version numbered.Version) bool { return !r.admits(version, facts.Of(version.Text)) })
	ranked := slices.Clone(all)
	if r.Latest > 0 && len(ranked) > int(r.Latest) {
		slices.SortStableFunc(ranked, numbered.Descending)
		ranked = ranked[:r.lowest(ranked)]
	}
	text := func(version numbered.Version) string { return version.Text }
	stay := sets.New(each.Map(ranked, text)...)
	return slices.DeleteFunc(each.Map(all, text), func(version string) bool { return !stay.Has(version) })
}

// lowest returns how many of the versions, the highest first, are among the latest.
func (r VersionRule) lowest(ranked []numbered.Version) (n int) {
	for different := 0; n < len(ranked); n++ {
		isSemantic := ranked[n].Parsed != nil
		if n == 0 || !isSemantic || numbered.Descending(ranked[n-1], ranked[n]) != 0 {
			different++
		}
		if different > int(r.Latest) {
			break
		}
	}
	return n
}

// refusal returns the reason why no version is left of an application, which gets all of them back. Latest cannot be the cause:
// it keeps at least one.
func (r VersionRule) refusal(decision *Decision) string {
	which := "its versions"
	if len(decision.Versions) < len(decision.Application.Versions) {
		which = "the versions that earlier rules leave it"
	}
	var criteria []string
	if r.constraint != nil {
		criteria = append(criteria, fmt.Sprintf("satisfies the constraint %q", r.Constraint))
	}
	if len(r.channels) > 0 {
		criteria = append(criteria, "is in the channel "+anyOf(r.Channels))
	}
	if r.dropsDeprecated() {
		criteria = append(criteria, "is not deprecated")
	}
	reason := fmt.Sprintf("none of %s %s: %s", which, strings.Join(criteria, " and "), some(decision.Versions))
	decision.Versions = decision.Application.Versions
	return reason
}
