// SPDX-License-Identifier: Apache-2.0

// Package blobs makes the documents of a file-based catalog of bundles: Of makes the one of a bundle, as `opm render` does,
// and Catalog the packages and channels as well. It must not know where bundles come from.
package blobs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/each"
)

// Bundle is the document of a bundle.
type Bundle struct {
	Schema        string                `json:"schema"`
	Name          string                `json:"name"`
	Package       string                `json:"package"`
	Image         string                `json:"image,omitempty"`
	Properties    []bundle.Property     `json:"properties"`
	RelatedImages []bundle.RelatedImage `json:"relatedImages,omitempty"`
}

// The types of properties that are made of a bundle.
const (
	typeAPIRequired     = "olm.gvk.required"
	typePackageRequired = "olm.package.required"
	typeObject          = "olm.bundle.object"
	typeMetadata        = "olm.csv.metadata"
)

// Of returns the document of a bundle. With the address of its image it has the metadata of the ClusterServiceVersion, as
// `opm render --migrate-level=bundle-object-to-csv-metadata` has; without, it has all objects, as there is no other place
// to take them from.
func Of(b *bundle.Bundle, image string) Bundle {
	all := properties(b)
	if image == "" {
		all.addObjects(b)
	} else {
		all.add(typeMetadata, metadataOf(b.CSV))
	}
	return Bundle{
		Schema: filebased.SchemaBundle, Name: b.CSV.Metadata.Name, Package: b.Package, Image: image,
		Properties: all, RelatedImages: relatedImages(b, image),
	}
}

// list collects properties.
type list []bundle.Property

// add adds a property with a value that is encoded as JSON.
func (l *list) add(of string, value any) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // all values are texts, and JSON that the reader of bundles has read
	*l = append(*l, bundle.Property{Type: of, Value: bytes.TrimSpace(out.Bytes())})
}

// properties returns the properties of a bundle, except its objects, sorted by type and value, each API once.
func properties(b *bundle.Bundle) (all list) {
	all.add(bundle.TypePackage, struct {
		Name    string `json:"packageName"`
		Version string `json:"version"`
		Release string `json:"release,omitempty"`
	}{b.Package, b.CSV.Spec.Version, b.CSV.Spec.Release})
	provided, required := slices.Clone(b.Provided), b.CSV.RequiredAPIs()
	provided = append(provided, each.Map(b.CSV.Spec.APIServices.Owned, bundle.APIService.API)...)
	for _, one := range slices.Concat(b.Properties, b.OwnProperties) {
		isIt := func(listed bundle.Property) bool { return compare(listed, one) == 0 }
		switch {
		case one.Type == bundle.TypeGVK:
			provided = append(provided, apiOf(one))
		case !slices.ContainsFunc(all, isIt):
			all = append(all, one)
		}
	}
	for _, one := range b.Dependencies {
		switch one.Type {
		case bundle.TypeGVK:
			required = append(required, apiOf(one))
		case bundle.TypePackage:
			var value struct{ PackageName, Version string }
			_ = json.Unmarshal(one.Value, &value) // the reader has refused what is none
			all.add(typePackageRequired, map[string]string{"packageName": value.PackageName, "versionRange": value.Version})
		default:
			all = append(all, one)
		}
	}
	all.addAPIs(bundle.TypeGVK, provided)
	all.addAPIs(typeAPIRequired, required)
	slices.SortFunc(all, compare)
	return all
}

func apiOf(one bundle.Property) (api bundle.API) {
	_ = json.Unmarshal(one.Value, &api) // the reader has refused what is none
	return api
}

// addAPIs adds each API once.
func (l *list) addAPIs(of string, apis []bundle.API) {
	taken := map[bundle.API]bool{}
	for _, api := range apis {
		if !taken[api] {
			taken[api] = true
			l.add(of, api)
		}
	}
}

func compare(x, y bundle.Property) int {
	return cmp.Or(cmp.Compare(x.Type, y.Type), bytes.Compare(x.Value, y.Value))
}

// addObjects adds the objects of a bundle, encoded in base64, sorted by that.
func (l *list) addObjects(b *bundle.Bundle) {
	var objects list
	for _, one := range b.Objects {
		objects.add(typeObject, map[string][]byte{"data": one.JSON})
	}
	slices.SortFunc(objects, compare)
	*l = append(*l, objects...)
}

// relatedImages returns, sorted, the images that the ClusterServiceVersion lists, and of the bundle and the operator.
func relatedImages(b *bundle.Bundle, image string) []bundle.RelatedImage {
	images := slices.Clone(b.CSV.Spec.RelatedImages)
	for _, one := range append([]string{image}, b.CSV.OperatorImages()...) {
		isIt := func(listed bundle.RelatedImage) bool { return listed.Image == one }
		if one != "" && !slices.ContainsFunc(images, isIt) {
			images = append(images, bundle.RelatedImage{Image: one})
		}
	}
	slices.SortStableFunc(images, func(x, y bundle.RelatedImage) int { return cmp.Compare(x.Image, y.Image) })
	return images
}

// metadata is the value of the property that stands for the objects of a bundle.
type metadata struct {
	Annotations map[string]string                   `json:"annotations,omitempty"`
	APIServices bundle.Described[bundle.APIService] `json:"apiServiceDefinitions"`
	CRDs        bundle.Described[bundle.Definition] `json:"crdDescriptions"`
	Description string                              `json:"description,omitempty"`
	Modes       []bundle.Mode                       `json:"installModes,omitempty"`
	Labels      map[string]string                   `json:"labels,omitempty"`
	bundle.About
}

func metadataOf(csv bundle.CSV) metadata {
	return metadata{
		Annotations: csv.Metadata.Annotations, Labels: csv.Metadata.Labels,
		APIServices: csv.Spec.APIServices, CRDs: csv.Spec.CRDs,
		Description: csv.Spec.Description, Modes: csv.Spec.Modes, About: csv.Spec.About,
	}
}
