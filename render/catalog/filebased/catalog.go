// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/catalog/filebased/graph"
	"github.com/winnow-dev/winnow/render/each"
)

// Catalog is a valid catalog. It is shared: nothing may change it.
type Catalog struct {
	// Packages sorted by name.
	Packages []*Package
	// Others are the blobs of no package of the catalog, in the order of the files and in them.
	Others []*Blob
}

// Package is what a catalog has of a package.
type Package struct {
	Name, DefaultChannel string
	// Channels sorted by name.
	Channels []*Channel
	// Bundles from the highest version to the lowest.
	Bundles []*Bundle
	// Deprecated is the message of the catalog, empty for a package that is not deprecated.
	Deprecated string
	// Blobs in the order of the files, and in them: the blobs of the above, and blobs whose schema is not known.
	Blobs []*Blob

	blob, deprecations *Blob
}

// Channel is a graph of upgrades.
type Channel struct {
	Name string
	// Entries in the order of the catalog. The names that they replace and skip need not belong to bundles.
	Entries []graph.Entry
	// Deprecated is the message of the catalog, empty for a channel that is not deprecated.
	Deprecated string
	Blob       *Blob
}

// EntryNames returns the names of the bundles in the channel.
func (c *Channel) EntryNames() sets.Set[string] {
	return sets.New(each.Map(c.Entries, func(entry graph.Entry) string { return entry.Name })...)
}

// Blob returns the document of the package itself.
func (p *Package) Blob() *Blob { return p.blob }

// BundlesIn returns the bundles that are in channels, or in any where none are given, in the order of OLM v1: those that are
// deprecated after the others, the highest first.
func (p *Package) BundlesIn(channels []string) []*Bundle {
	in := sets.New[string]()
	for _, channel := range p.Channels {
		if len(channels) == 0 || slices.Contains(channels, channel.Name) {
			maps.Copy(in, channel.EntryNames())
		}
	}
	bundles := slices.DeleteFunc(slices.Clone(p.Bundles), func(b *Bundle) bool { return !in.Has(b.Name) })
	slices.SortStableFunc(bundles, func(a, b *Bundle) int {
		return cmp.Or(cmp.Compare(min(len(a.Deprecated), 1), min(len(b.Deprecated), 1)), b.Version.Compare(a.Version))
	})
	return bundles
}
