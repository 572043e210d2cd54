// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"cmp"
	"encoding/json"

	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
)

// About is what a package states about itself to people. Its texts are not shortened.
type About struct {
	DisplayName, Description string
	// Maintainers as "Name <mail>".
	Maintainers []string
	Provider    string
	Keywords    []string
	// Icon reports whether there is one.
	Icon   bool
	Labels map[string]string
}

// csv is what a ClusterServiceVersion states about itself, in its spec or in the property olm.csv.metadata.
type csv struct {
	DisplayName string `json:"displayName"`
	Description string `json:"description"`
	Maintainers []struct {
		Name  string `json:"name"`
		Email string `json:"email"`
	} `json:"maintainers"`
	Provider struct {
		Name string `json:"name"`
	} `json:"provider"`
	Keywords []string          `json:"keywords"`
	Labels   map[string]string `json:"labels"`
	Icon     []icon            `json:"icon"`
}

// described decodes the documents that describe the package: its own, and the head of the default channel for what its own does
// not have.
func (p *Package) described() (own packageDocument, head csv) {
	if data, _, err := p.blob.object(); err == nil {
		_ = json.Unmarshal(data, &own) // Load has accepted it
	}
	if bundle := p.Heads()[p.DefaultChannel]; bundle != nil {
		head = bundle.Blob.csv()
	}
	return own, head
}

// About returns what the documents of the package state.
func (p *Package) About() About {
	own, head := p.described()
	about := About{
		DisplayName: head.DisplayName, Description: cmp.Or(own.Description, head.Description), Provider: head.Provider.Name,
		Keywords: head.Keywords, Icon: len(iconOf(own, head).Data) > 0, Labels: head.Labels,
	}
	for _, one := range head.Maintainers {
		switch {
		case one.Name == "" && one.Email == "":
		case one.Email == "":
			about.Maintainers = append(about.Maintainers, one.Name)
		case one.Name == "":
			about.Maintainers = append(about.Maintainers, "<"+one.Email+">")
		default:
			about.Maintainers = append(about.Maintainers, one.Name+" <"+one.Email+">")
		}
	}
	return about
}

// Icon returns the picture of the package, from its own document or else from the head of the default channel, and
// its media type, as the catalog has them; nil without one.
func (p *Package) Icon() (data []byte, mediaType string) {
	found := iconOf(p.described())
	return found.Data, found.MediaType
}

func iconOf(own packageDocument, head csv) icon {
	all := head.Icon
	if own.Icon != nil {
		all = append([]icon{*own.Icon}, all...)
	}
	for _, one := range all {
		if len(one.Data) > 0 {
			return one
		}
	}
	return icon{}
}

// csv returns what a bundle has of its ClusterServiceVersion: the property olm.csv.metadata, else the manifest.
func (b *Blob) csv() (found csv) {
	_, top, err := b.object()
	if err != nil {
		return csv{}
	}
	for _, one := range jsontext.ByName(top.Members).List("properties") {
		property := jsontext.FieldsOf(one)
		value := property["value"]
		switch property.Text("type") {
		case propertyMetadata:
			found = csv{}
			_ = json.Unmarshal(value, &found) // Load has accepted it
			return found
		case propertyObject:
			var object bundleObject
			_ = json.Unmarshal(value, &object) // Load has accepted it
			found.read(object.Data)
		}
	}
	return found
}

// read reads a manifest, if it is a ClusterServiceVersion, without what has another type.
func (c *csv) read(manifest []byte) {
	converted, err := manifestJSON(manifest)
	if err != nil {
		return
	}
	spec := clusterServiceVersion(converted)
	if spec == nil {
		return
	}
	_ = json.Unmarshal(spec, c) // what has another type is left out
	var whole struct {
		Metadata struct {
			Labels map[string]string `json:"labels"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(converted, &whole) // as above
	c.Labels = whole.Metadata.Labels
}
