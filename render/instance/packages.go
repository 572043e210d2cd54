// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// The bundle of a package of operators that a spec means.

// resolvePackage returns the bundle that OLM leads to, or why there is none.
func (s Spec) resolvePackage(p *filebased.Package) (*filebased.Bundle, *Unresolved) {
	for _, channel := range s.given.Channels {
		if !slices.ContainsFunc(p.Channels, func(c *filebased.Channel) bool { return c.Name == channel }) {
			return nil, new(s.lacking("channels", channel, fmt.Sprintf("the package %s has no channel %s, only %s", p.Name, excerpt.Quoted(channel), listed(channelsOf(p)))))
		}
	}
	if s.Backend == backend.Subscription {
		return s.resolveHead(p)
	}
	in := p.BundlesIn(s.given.Channels)
	if matching := s.matching(in); len(matching) > 0 {
		return matching[0], nil
	}
	return nil, new(s.lacking("version", s.Version, s.whyNoBundle(p, in)))
}

// resolveHead returns the bundle that OLM v0 leads to. The catalog of the selection has no more than the selection, so
// that its head enforces a version; from other catalogs, the backend takes none.
func (s Spec) resolveHead(p *filebased.Package) (*filebased.Bundle, *Unresolved) {
	head := s.head(p)
	if !s.given.FromServed(v1alpha1.PushCatalogSource) || len(s.matching([]*filebased.Bundle{head})) > 0 {
		return head, nil
	}
	reason := fmt.Sprintf("OLM v0 installs the head of the channel, which is %s, and not %s: narrow the package with spec.versions",
		head.Version, excerpt.Quoted(s.Version))
	if s.constraint != nil || IsExact(s.Version) {
		reason += fmt.Sprintf(", such as {names: [%s], constraint: %q}", s.Application, excerpt.Of(s.Version))
	}
	return nil, new(s.lacking("version", s.Version, reason))
}

// head returns the bundle that OLM v0 leads to: the head of the first channel, because the backend refuses more, or of the
// default one.
func (s Spec) head(p *filebased.Package) *filebased.Bundle {
	if len(s.given.Channels) > 0 {
		return p.Heads()[s.given.Channels[0]]
	}
	return p.Heads()[p.DefaultChannel]
}

func (s Spec) whyNoBundle(p *filebased.Package, in []*filebased.Bundle) string {
	of := "the package " + p.Name
	if len(s.given.Channels) > 0 {
		of += " in the channels " + listed(s.given.Channels)
	}
	versions := each.Map(in, func(bundle *filebased.Bundle) string { return bundle.Version.String() })
	switch {
	case s.constraint != nil:
		return fmt.Sprintf("no version of %s is in the range %s; it has %s", of, excerpt.Quoted(s.Version), listed(versions))
	case IsExact(s.Version):
		return fmt.Sprintf("%s has no version %s, only %s", of, excerpt.Of(s.Version), listed(versions))
	default:
		return fmt.Sprintf("%s is neither a bundle nor a version of %s, nor a range; it has %s", excerpt.Quoted(s.Version), of, listed(versions))
	}
}

func channelsOf(p *filebased.Package) []string {
	return each.Map(p.Channels, func(channel *filebased.Channel) string { return channel.Name })
}

// matching returns the bundles that the version of the spec allows, in their order.
func (s Spec) matching(in []*filebased.Bundle) []*filebased.Bundle {
	if named := slices.IndexFunc(in, func(b *filebased.Bundle) bool { return b.Name == s.Version }); named >= 0 {
		return in[named : named+1]
	}
	constraint := s.constraint
	if IsExact(s.Version) {
		constraint, _ = semver.NewConstraint(s.Version)
	}
	if constraint == nil && s.Version != "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(in), func(b *filebased.Bundle) bool {
		version, err := semver.NewVersion(b.Version.Semver())
		return constraint != nil && (err != nil || !constraint.Check(version))
	})
}
