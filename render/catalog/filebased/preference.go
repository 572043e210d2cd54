package filebased

import (
	"cmp"
	"slices"
)

// BundlesIn returns the bundles that are in channels, or in any where none are given, in the order of OLM v1: those that are
// deprecated after the others, the highest first.
func (p *Package) BundlesIn(channels []string) []*Bundle {
	in := map[string]bool{}
	for _, channel := range p.Channels {
		if len(channels) > 0 && !slices.Contains(channels, channel.Name) {
			continue
		}
		for _, entry := range channel.Entries {
			in[entry.Name] = true
		}
	}
	bundles := slices.DeleteFunc(slices.Clone(p.Bundles), func(b *Bundle) bool { return !in[b.Name] })
	slices.SortStableFunc(bundles, func(a, b *Bundle) int {
		return cmp.Or(cmp.Compare(min(len(a.Deprecated), 1), min(len(b.Deprecated), 1)), b.Version.Compare(a.Version))
	})
	return bundles
}
