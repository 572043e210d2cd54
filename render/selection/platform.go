// SPDX-License-Identifier: Apache-2.0

package selection

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// release matches a version of a platform. A pre-release satisfies no range that does not name one, so it would drop
// nearly all versions.
var release = regexp.MustCompile(`^v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(\+[0-9A-Za-z.-]+)?$`)

// maxRelease bounds a version of a platform in bytes, as the API does.
const maxRelease = 64

// Platform drops the versions of applications that run on none of its versions.
type Platform struct {
	components []component
}

// component is a part of the platform with its versions.
type component struct {
	name  string
	texts []string
	all   []*semver.Version
}

// Add adds a component with its versions, such as 1.32.9, at least one. The error is about one of the versions.
func (p *Platform) Add(name string, versions []string) error {
	added := component{name: name, texts: slices.Clone(versions)}
	for _, text := range versions {
		if len(text) > maxRelease || !release.MatchString(text) {
			return fmt.Errorf("%q is not a version such as 1.32.9, without a pre-release", excerpt.Of(text))
		}
		parsed, err := semver.NewVersion(text)
		if err != nil {
			return fmt.Errorf("parsing %q: %w", excerpt.Of(text), err)
		}
		added.all = append(added.all, parsed)
	}
	p.components = append(p.components, added)
	return nil
}

// String returns "kubernetes 1.32.9 or 1.33.2, kkp 2.29.1".
func (p *Platform) String() string {
	return excerpt.List(p.components, maxListed, func(c component) string {
		return c.name + " " + strings.Join(c.texts[:min(len(c.texts), maxListed)], " or ")
	})
}

// lists returns the component with a name, and whether the platform lists it.
func (p *Platform) lists(name string) (component, bool) {
	return each.First(p.components, func(c component) bool { return c.name == name })
}

// Unmet is a requirement of a version that the platform does not meet.
type Unmet struct {
	Version     string
	Requirement metadata.Requirement
}

// String returns "2.13.0 requires kubernetes >=1.34".
func (u Unmet) String() string {
	return excerpt.Of(u.Version) + " requires " + excerpt.Of(u.Requirement.String())
}

// UnmetList describes the first of many.
func UnmetList(unmet []Unmet) string { return excerpt.List(unmet, maxListed, Unmet.String) }

// checker checks requirements against a platform. Few requirements of a catalog differ, so it remembers them.
type checker struct {
	platform *Platform
	met      map[metadata.Requirement]bool
}

// unmet returns the first requirement of each version that the platform does not meet.
func (c checker) unmet(application *catalog.Application) []Unmet {
	var all []Unmet
	for _, version := range application.Versions {
		for _, requirement := range application.Metadata.Versions.Of(version).Requires {
			if !c.meets(requirement) {
				all = append(all, Unmet{Version: version, Requirement: requirement})
				break
			}
		}
	}
	return all
}

// meets reports whether one version of the component satisfies the requirement. A component that the platform does
// not list satisfies everything.
func (c checker) meets(requirement metadata.Requirement) bool {
	if met, known := c.met[requirement]; known {
		return met
	}
	met := true
	if listed, ok := c.platform.lists(requirement.Component); ok {
		constraint, err := semver.NewConstraint(requirement.Constraint)
		met = err == nil && slices.ContainsFunc(listed.all, constraint.Check)
	}
	c.met[requirement] = met
	return met
}

// unchecked describes the requirements of an application on components that the platform does not list; empty
// without any.
func (p *Platform) unchecked(application *catalog.Application) string {
	var names []string
	for _, version := range application.Versions {
		for _, requirement := range application.Metadata.Versions.Of(version).Requires {
			if _, listed := p.lists(requirement.Component); !listed {
				names = each.Union(names, requirement.Component)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return "; not checked are requirements on " + some(names) + ", which spec.platform does not list"
}
