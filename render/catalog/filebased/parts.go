// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"cmp"
	"slices"

	"github.com/winnow-dev/winnow/render/catalog/filebased/shape"
	"github.com/winnow-dev/winnow/render/excerpt"
)

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
		found.at(blob, shape.FieldPath{"name"}, "is the channel %s again, first in %s", excerpt.Quoted(blob.Name), other.Blob.where())
		return
	}
	channel := &Channel{Name: blob.Name, Entries: content.Entries, Blob: blob}
	p.channels[blob.Name] = channel
	p.result.Channels = append(p.result.Channels, channel)
}

func (p *packageCheck) addBundle(blob *Blob, content *Bundle, found *report) {
	if other, taken := p.bundles[blob.Name]; taken {
		found.at(blob, shape.FieldPath{"name"}, "is the bundle %s again, first in %s", excerpt.Quoted(blob.Name), other.Blob.where())
		return
	}
	bundle := *content
	bundle.Blob = blob
	p.bundles[blob.Name] = &bundle
	p.result.Bundles = append(p.result.Bundles, &bundle)
}

func (p *packageCheck) addDeprecations(blob *Blob, content *deprecationContent, found *report) {
	if other := p.result.deprecations; other != nil {
		found.at(blob, shape.FieldPath{"package"}, "has deprecations of the package %s again, first in %s", excerpt.Quoted(blob.Package), other.where())
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
