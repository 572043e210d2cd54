// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/catalog/filebased/shape"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// assemble makes a catalog of blobs, and reports what is wrong with how they fit together. Packages in unread are
// not checked further.
func assemble(blobs []*Blob, unread map[string]bool, found *report) *Catalog {
	a := assembly{found: found, packages: map[string]*packageCheck{}}
	for _, blob := range blobs {
		if blob.Schema == SchemaPackage {
			a.addPackage(blob)
		}
	}
	loaded := &Catalog{}
	for _, blob := range blobs {
		a.addBlob(blob, loaded, unread)
	}
	for _, blob := range blobs {
		if p := a.packages[blob.Name]; blob.Schema == SchemaPackage && p != nil && p.result.blob == blob {
			if !unread[blob.Name] {
				p.check(found)
			}
			p.deprecate()
			p.sort()
			loaded.Packages = append(loaded.Packages, p.result)
		}
	}
	slices.SortFunc(loaded.Packages, func(x, y *Package) int { return cmp.Compare(x.Name, y.Name) })
	if found.total > 0 {
		for _, blob := range blobs {
			if meant := blob.Meant(); meant != "" {
				found.at(blob, shape.FieldPath{"schema"}, "%s is no schema of OLM: did you mean %s?", excerpt.Quoted(blob.Schema), meant)
			}
		}
	}
	return loaded
}

type assembly struct {
	found    *report
	packages map[string]*packageCheck
}

// addPackage adds a package without looking at what it has.
func (a *assembly) addPackage(blob *Blob) {
	content, isRead := blob.content.(*packageContent)
	if !isRead {
		content = &packageContent{}
	}
	if blob.Name == "" {
		a.found.at(blob, nil, "must have a name")
		return
	}
	if other, taken := a.packages[blob.Name]; taken {
		a.found.at(blob, shape.FieldPath{"name"}, "is the package %s again, first in %s", excerpt.Quoted(blob.Name), other.result.blob.where())
		return
	}
	for _, problem := range validation.IsDNS1123Label(blob.Name) {
		a.found.at(blob, shape.FieldPath{"name"}, "%s is no name of a package: %s", excerpt.Quoted(blob.Name), problem)
	}
	a.packages[blob.Name] = &packageCheck{
		result:   &Package{Name: blob.Name, DefaultChannel: content.DefaultChannel, blob: blob},
		channels: map[string]*Channel{},
		bundles:  map[string]*Bundle{},
	}
}

// addBlob adds a blob to its package, or to the others.
func (a *assembly) addBlob(blob *Blob, loaded *Catalog, unread map[string]bool) {
	name := blob.of()
	p := a.packages[name]
	if p == nil {
		switch blob.Schema {
		case SchemaPackage:
		case SchemaChannel, SchemaBundle, SchemaDeprecation:
			if name == "" {
				a.found.at(blob, nil, "must have a package")
			} else if !unread[name] {
				a.found.at(blob, shape.FieldPath{"package"}, "there is no package %s in the catalog", excerpt.Quoted(name))
			}
		default:
			loaded.Others = append(loaded.Others, blob)
		}
		return
	}
	p.result.Blobs = append(p.result.Blobs, blob)
	switch content := blob.content.(type) {
	case *channelContent:
		p.addChannel(blob, content, a.found)
	case *Bundle:
		p.addBundle(blob, content, a.found)
	case *deprecationContent:
		p.addDeprecations(blob, content, a.found)
	}
}
