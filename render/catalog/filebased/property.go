// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"cmp"

	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
	"github.com/winnow-dev/winnow/render/catalog/filebased/shape"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// The types of dependencies.
const (
	PackageRequired = "olm.package.required"
	GVKRequired     = "olm.gvk.required"
	Constraint      = "olm.constraint"
)

// The types of properties whose values are used.
const (
	propertyPackage  = "olm.package"
	propertyObject   = "olm.bundle.object"
	propertyGVK      = "olm.gvk"
	propertyMetadata = "olm.csv.metadata"
)

// bundleShape is the shape of a bundle, and shapes are the shapes of its properties.
var (
	bundleShape = shape.Mapping([]string{"name", "package", "image"}, map[string]*shape.Shape{
		"properties":    shape.ListOf(shape.Mapping([]string{"type"}, nil)),
		"relatedImages": shape.ListOf(shape.Mapping([]string{"name", "image"}, nil)),
	})
	shapes = propertyShapes()
)

// propertyShapes returns the shapes of the values of properties that are only checked.
func propertyShapes() map[string]*shape.Shape {
	aGVK := shape.Mapping([]string{"group", "kind", "version"}, nil)
	return map[string]*shape.Shape{
		PackageRequired:  shape.Mapping([]string{"packageName", "versionRange"}, nil),
		propertyGVK:      aGVK,
		GVKRequired:      aGVK,
		"olm.channel":    shape.Mapping([]string{"channelName"}, map[string]*shape.Shape{"priority": {Kind: shape.Number64}}),
		propertyMetadata: csvMetadata(aGVK),
	}
}

// csvMetadata is what a ClusterServiceVersion has besides its deployments.
func csvMetadata(aGVK *shape.Shape) *shape.Shape {
	texts := &shape.Shape{Kind: shape.Dictionary, Elements: &shape.Shape{Kind: shape.Text}}
	link := shape.Mapping([]string{"name", "url"}, nil)
	definitions := func(one *shape.Shape) *shape.Shape {
		return shape.Mapping(nil, map[string]*shape.Shape{"owned": shape.ListOf(one), "required": shape.ListOf(one)})
	}
	return shape.Mapping([]string{"description", "displayName", "maturity", "minKubeVersion"}, map[string]*shape.Shape{
		"annotations":           texts,
		"labels":                texts,
		"apiServiceDefinitions": definitions(described([]string{"group", "deploymentName"}, map[string]*shape.Shape{"containerPort": {Kind: shape.Number32}})),
		"crdDescriptions":       definitions(described(nil, nil)),
		"installModes":          shape.ListOf(shape.Mapping([]string{"type"}, map[string]*shape.Shape{"supported": {Kind: shape.Boolean}})),
		"keywords":              shape.ListOf(&shape.Shape{Kind: shape.Text}),
		"links":                 shape.ListOf(link),
		"maintainers":           shape.ListOf(shape.Mapping([]string{"name", "email"}, nil)),
		"nativeAPIs":            shape.ListOf(aGVK),
		"provider":              link,
	})
}

// described is the shape of the description of an API, with what some have more.
func described(texts []string, others map[string]*shape.Shape) *shape.Shape {
	descriptor := shape.Mapping([]string{"path", "displayName", "description"}, map[string]*shape.Shape{"x-descriptors": shape.ListOf(&shape.Shape{Kind: shape.Text})})
	one := shape.Mapping(append([]string{"name", "version", "kind", "displayName", "description"}, texts...), others)
	one.Keys["resources"] = shape.ListOf(shape.Mapping([]string{"name", "kind", "version"}, nil))
	for _, name := range []string{"statusDescriptors", "specDescriptors", "actionDescriptors"} {
		one.Keys[name] = shape.ListOf(descriptor)
	}
	return one
}

// GVK names an API.
type GVK struct {
	Group   string `json:"group,omitempty"`
	Version string `json:"version,omitempty"`
	Kind    string `json:"kind,omitempty"`
}

// String returns "group/version, Kind=kind", as Kubernetes prints it.
func (g GVK) String() string { return g.Group + "/" + g.Version + ", Kind=" + g.Kind }

// Compare orders APIs by group, kind and version.
func (g GVK) Compare(other GVK) int {
	return cmp.Or(cmp.Compare(g.Group, other.Group), cmp.Compare(g.Kind, other.Kind), cmp.Compare(g.Version, other.Version))
}

func readGVK(value []byte) GVK {
	var found GVK
	jsontext.EachMember(value, func(key, value []byte) {
		switch {
		case value[0] != '"':
		case jsontext.IsKey(key, "group"):
			found.Group = jsontext.Unquoted(value)
		case jsontext.IsKey(key, "version"):
			found.Version = jsontext.Unquoted(value)
		case jsontext.IsKey(key, "kind"):
			found.Kind = jsontext.Unquoted(value)
		}
	})
	return found
}

// describeAPI names an API for people.
func describeAPI(api GVK) string { return "the API " + excerpt.Of(api.String()) }
