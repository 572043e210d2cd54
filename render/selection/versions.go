package selection

import (
	"errors"
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// maxConstraint bounds a constraint in bytes, as the API does.
const maxConstraint = 256

// VersionRule narrows the versions of applications. NewVersionRule returns one; the zero value keeps all
// versions.
type VersionRule struct {
	names      []string
	listed     map[string]bool
	text       string
	constraint *semver.Constraints
	latest     int
}

// NewVersionRule returns a rule for the applications with the given names, or for all without names. It
// keeps the versions that satisfy the constraint, and of those the latest highest ones, by the precedence
// of semantic versions.
//
// An empty constraint and a latest of 0 mean no bound, but not both. A leading v is accepted in
// versions and constraints. A pre-release satisfies only a constraint that names one. A version
// that is not a semantic version satisfies no constraint and is the lowest.
func NewVersionRule(names []string, constraint string, latest int) (VersionRule, error) {
	switch {
	case latest < 0:
		return VersionRule{}, fmt.Errorf("latest must not be negative, but is %d", latest)
	case constraint == "" && latest == 0:
		return VersionRule{}, errors.New("constraint or latest is needed")
	case len(constraint) > maxConstraint:
		return VersionRule{}, fmt.Errorf("constraint is longer than %d bytes", maxConstraint)
	}
	rule := VersionRule{names: slices.Clone(names), listed: set(names), text: constraint, latest: latest}
	if constraint == "" {
		return rule, nil
	}
	parsed, err := semver.NewConstraint(constraint)
	if err != nil {
		return VersionRule{}, fmt.Errorf("parsing constraint %q: %w", excerpt.Of(constraint), err)
	}
	rule.constraint = parsed
	return rule, nil
}

// concerns reports whether the rule applies to an application.
func (r VersionRule) concerns(application *catalog.Application) bool {
	return len(application.Versions) > 0 && (len(r.names) == 0 || r.listed[application.Name])
}

// numbered is a version and its parsed form, which is nil for one that is not semantic.
type numbered struct {
	text   string
	parsed *semver.Version
}

func number(versions []string) []numbered {
	all := make([]numbered, 0, len(versions))
	for _, version := range versions {
		parsed, err := semver.NewVersion(version)
		if err != nil {
			parsed = nil
		}
		all = append(all, numbered{text: version, parsed: parsed})
	}
	return all
}

// descending orders versions, the highest first. Build metadata has no precedence.
func descending(a, b numbered) int {
	switch {
	case a.parsed == nil && b.parsed == nil:
		return 0
	case a.parsed == nil:
		return 1
	case b.parsed == nil:
		return -1
	default:
		return b.parsed.Compare(a.parsed)
	}
}

// keep returns the versions that stay, in their order. Of equal ones the first counts as higher.
func (r VersionRule) keep(versions []string) []string {
	all := number(versions)
	if r.constraint != nil {
		all = slices.DeleteFunc(all, func(version numbered) bool {
			return version.parsed == nil || !r.constraint.Check(version.parsed)
		})
	}
	stay := map[string]bool{}
	ranked := slices.Clone(all)
	if r.latest > 0 && len(ranked) > r.latest {
		slices.SortStableFunc(ranked, descending)
		ranked = ranked[:r.latest]
	}
	for _, version := range ranked {
		stay[version.text] = true
	}
	var kept []string
	for _, version := range all {
		if stay[version.text] {
			kept = append(kept, version.text)
		}
	}
	return kept
}

// highest returns the highest semantic version, empty when there is none.
func highest(versions []string) string {
	var best numbered
	for _, version := range number(versions) {
		if descending(version, best) < 0 {
			best = version
		}
	}
	return best.text
}

// versioned narrows the versions of a decision by every rule in turn, and refuses an application without
// any version left. It ignores applications that have no versions in the catalog.
func versioned(rules []VersionRule) rule {
	return rule{id: RuleVersions, refuse: infallible(func(decision *Decision) string {
		for _, rule := range rules {
			if !rule.concerns(decision.Application) {
				continue
			}
			left := rule.keep(decision.Versions)
			if len(left) == 0 {
				reason := rule.reason(decision)
				decision.Versions = decision.Application.Versions
				return reason
			}
			if len(left) < len(decision.Versions) {
				decision.Versions = left
			}
		}
		return ""
	})}
}

// reason returns why no version is left. Only a constraint can be the cause: latest keeps at least one.
func (r VersionRule) reason(decision *Decision) string {
	which := "its versions"
	if len(decision.Versions) < len(decision.Application.Versions) {
		which = "the versions that earlier rules leave it"
	}
	return fmt.Sprintf("none of %s satisfies the constraint %q: %s", which, r.text, some(decision.Versions))
}
