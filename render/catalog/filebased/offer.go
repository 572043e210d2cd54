// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"slices"

	"github.com/blang/semver/v4"

	"github.com/winnow-dev/winnow/render/catalog/filebased/graph"
	"github.com/winnow-dev/winnow/render/each"
)

// Offer is what packages have to satisfy dependencies.
type Offer struct {
	versions map[string][]semver.Version
	apis     map[GVK][]string
}

// NewOffer returns what the bundles of packages have.
func NewOffer(packages []*Package) Offer {
	o := Offer{versions: map[string][]semver.Version{}, apis: map[GVK][]string{}}
	for _, p := range packages {
		for _, bundle := range p.Bundles {
			o.versions[p.Name] = append(o.versions[p.Name], bundle.Version.semver)
			for _, api := range bundle.Provides {
				if owners := o.apis[api]; len(owners) == 0 || owners[len(owners)-1] != p.Name {
					o.apis[api] = append(owners, p.Name)
				}
			}
		}
	}
	return o
}

// Owners returns the packages that have a bundle with an API, in the order of the packages.
func (o Offer) Owners(api GVK) []string { return o.apis[api] }

// Satisfies reports whether a bundle satisfies a dependency; true for a constraint of several parts, or of a rule.
func (o Offer) Satisfies(d Dependency) bool {
	switch {
	case d.API != GVK{}:
		return len(o.apis[d.API]) > 0
	case d.Package == "":
		return true
	}
	within, err := graph.ParseRange(d.VersionRange)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(o.versions[d.Package], func(v semver.Version) bool { return within == nil || within(v) })
}

// Providers returns the packages with a bundle that satisfies a dependency, each once; none for a constraint of several
// parts, or of a rule.
func (o Offer) Providers(d Dependency) []string {
	switch {
	case d.API != GVK{}:
		return each.Union(nil, o.apis[d.API]...) // several catalogs may have one
	case d.Package != "" && o.Satisfies(d):
		return []string{d.Package}
	}
	return nil
}
