package filebased

import (
	"cmp"
	"slices"
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
	// Blobs in the order of the files, and in them: those of the above, and those whose schema is not known. A package
	// of a Record has none.
	Blobs []*Blob

	blob, deprecations *Blob
}

// Channel is a graph of upgrades.
type Channel struct {
	Name string
	// Entries in the order of the catalog. The names that they replace and skip may be those of no bundle.
	Entries []Entry
	// Deprecated is the message of the catalog, empty for a channel that is not deprecated.
	Deprecated string
	// Blob is nil for a channel of a Record.
	Blob *Blob
}

// Package returns the package with a name; nil without one.
func (c *Catalog) Package(name string) *Package {
	i, found := slices.BinarySearchFunc(c.Packages, name, func(p *Package, name string) int { return cmp.Compare(p.Name, name) })
	if !found {
		return nil
	}
	return c.Packages[i]
}

// Blob returns the document of the package itself; nil for a package of a Record.
func (p *Package) Blob() *Blob { return p.blob }
