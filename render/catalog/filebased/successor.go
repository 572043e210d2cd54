// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"slices"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/catalog/filebased/graph"
	"github.com/winnow-dev/winnow/render/each"
)

// Heads maps each channel to its head: the bundle that no entry replaces or skips.
func (p *Package) Heads() map[string]*Bundle {
	bundles := p.bundlesByName()
	heads := make(map[string]*Bundle, len(p.Channels))
	for _, channel := range p.Channels {
		heads[channel.Name] = bundles[channel.head()]
	}
	return heads
}

func (p *Package) bundlesByName() map[string]*Bundle {
	return each.By(p.Bundles, func(b *Bundle) string { return b.Name })
}

// head returns the name of the only head, which a valid channel has.
func (c *Channel) head() string {
	return graph.New(c.Entries, func(string) bool { return true }).Heads[0]
}

// Successions answers for each installed bundle whether OLM finds a place for it in a channel.
type Successions struct {
	names  sets.Set[string]
	ranges []semver.Range
}

// Successions returns the successions of the channel. It reads each range once.
func (c *Channel) Successions() Successions {
	s := Successions{names: make(sets.Set[string], 2*len(c.Entries))}
	read := map[string]bool{"": true}
	for _, e := range c.Entries {
		s.names.Insert(e.Name, e.Replaces)
		s.names.Insert(e.Skips...)
		if read[e.SkipRange] {
			continue
		}
		read[e.SkipRange] = true
		if within, err := graph.ParseRange(e.SkipRange); err == nil {
			s.ranges = append(s.ranges, within)
		}
	}
	return s
}

// Has reports whether OLM finds a place in the channel for an installed bundle, which the catalog need not have:
// an entry that is the bundle, that replaces or skips it by name, or whose skipRange has its version. That one step
// is all there is to ask: OLM installs nothing that is not an entry, so each further step begins at one.
func (s Successions) Has(bundle string, version Version) bool {
	return s.names.Has(bundle) || slices.ContainsFunc(s.ranges, func(within semver.Range) bool { return within(version.semver) })
}
