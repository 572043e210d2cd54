package filebased

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
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
		a.found.at(blob, place{"name"}, "is the package %s again, first in %s", quote(blob.Name), other.result.blob.where())
		return
	}
	for _, problem := range validation.IsDNS1123Label(blob.Name) {
		a.found.at(blob, place{"name"}, "%s is no name of a package: %s", quote(blob.Name), problem)
	}
	a.packages[blob.Name] = &packageCheck{
		result:   &Package{Name: blob.Name, DefaultChannel: content.DefaultChannel, blob: blob},
		channels: map[string]*Channel{},
		bundles:  map[string]*Bundle{},
	}
}

// addBlob adds a blob to its package, or to the others.
func (a *assembly) addBlob(blob *Blob, loaded *Catalog, unread map[string]bool) {
	name := blob.Package
	if blob.Schema == SchemaPackage {
		name = blob.Name
	}
	p := a.packages[name]
	if p == nil {
		switch blob.Schema {
		case SchemaPackage:
		case SchemaChannel, SchemaBundle, SchemaDeprecation:
			if name == "" {
				a.found.at(blob, nil, "must have a package")
			} else if !unread[name] {
				a.found.at(blob, place{"package"}, "there is no package %s in the catalog", quote(name))
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

// packageCheck finds what is wrong with a package.
type packageCheck struct {
	result   *Package
	channels map[string]*Channel
	bundles  map[string]*Bundle
	// deprecations in the order of the catalog.
	deprecations []Deprecation
}

func (p *packageCheck) addChannel(blob *Blob, content *channelContent, found *report) {
	if blob.Name == "" {
		found.at(blob, nil, "must have a name")
		return
	}
	if other, taken := p.channels[blob.Name]; taken {
		found.at(blob, place{"name"}, "is the channel %s again, first in %s", quote(blob.Name), other.Blob.where())
		return
	}
	channel := &Channel{Name: blob.Name, Entries: content.Entries, Blob: blob}
	p.channels[blob.Name] = channel
	p.result.Channels = append(p.result.Channels, channel)
}

func (p *packageCheck) addBundle(blob *Blob, content *Bundle, found *report) {
	if other, taken := p.bundles[blob.Name]; taken {
		found.at(blob, place{"name"}, "is the bundle %s again, first in %s", quote(blob.Name), other.Blob.where())
		return
	}
	bundle := *content
	bundle.Blob = blob
	p.bundles[blob.Name] = &bundle
	p.result.Bundles = append(p.result.Bundles, &bundle)
}

func (p *packageCheck) addDeprecations(blob *Blob, content *deprecationContent, found *report) {
	if other := p.result.deprecations; other != nil {
		found.at(blob, place{"package"}, "has deprecations of the package %s again, first in %s", quote(blob.Package), other.where())
		return
	}
	p.result.deprecations, p.deprecations = blob, content.Entries
}

// deprecate sets the messages of what is deprecated.
func (p *packageCheck) deprecate() {
	for _, one := range p.deprecations {
		switch channel, bundle := p.channels[one.Reference.Name], p.bundles[one.Reference.Name]; {
		case one.Reference.Schema == SchemaPackage:
			p.result.Deprecated = one.Message
		case one.Reference.Schema == SchemaChannel && channel != nil:
			channel.Deprecated = one.Message
		case one.Reference.Schema == SchemaBundle && bundle != nil:
			bundle.Deprecated = one.Message
		}
	}
}

// sort orders what the package has.
func (p *packageCheck) sort() {
	slices.SortFunc(p.result.Channels, func(x, y *Channel) int { return cmp.Compare(x.Name, y.Name) })
	slices.SortFunc(p.result.Bundles, func(x, y *Bundle) int { return byVersion(y, x) })
}

// byVersion orders bundles by version, and those of one version by name.
func byVersion(x, y *Bundle) int {
	return cmp.Or(x.Version.Compare(y.Version), cmp.Compare(x.Name, y.Name))
}
