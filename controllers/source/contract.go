// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render/contract"
)

// locationBy returns the location of the catalog by a manifest, and by the image that it is of, if it is of one.
func (s Observed) locationBy(manifest v1.Descriptor, raw []byte, image registry.Image) (*Location, error) {
	if image.Manifest.Digest != "" {
		_, err := contract.CatalogDirectory(image.Labels)
		return &Location{Image: &image.Manifest, Format: v1alpha1.FormatFileBased}, err
	}
	if s.isAuto() {
		found, err := contract.Read(manifest.MediaType, raw)
		if err != nil {
			return nil, err
		}
		return s.locationIn(found)
	}
	// Of an artifact that is no image, source-controller selects the layer, as with the other formats.
	if s.mustVerify && !s.copied() {
		return nil, errors.New("it is not the manifest of an image, and files that Flux extracts from a layer are not compared with the signed digest: " +
			"set format: Auto, or spec.layerSelector.operation of the OCIRepository to copy")
	}
	return &Location{Format: v1alpha1.FormatFileBased}, nil
}

// locationIn compares the artifact with the layer that contains the catalog, and returns the location of the
// catalog. A copied artifact can be compared, an extracted one cannot.
func (s Observed) locationIn(found contract.Contract) (*Location, error) {
	extracted, carried := &Location{ignoresLists: found.ListsLayer()}, &Location{Layer: &found.Layer, ignoresLists: found.ListsLayer()}
	if found.Format != v1alpha1.FormatAuto {
		extracted.Format, carried.Format = found.Format, found.Format
	}
	mediaType := ""
	if selector := s.repository.Status.ObservedLayerSelector; selector != nil {
		mediaType = selector.MediaType
	}
	switch {
	case !found.CarriedBy(mediaType), s.mustVerify && !s.copied():
		return carried, nil
	case !s.copied():
		return extracted, nil
	}
	artifact := digest.Digest(s.Artifact.Digest)
	switch {
	case artifact.Validate() == nil && artifact.Algorithm() != found.Layer.Digest.Algorithm():
		return carried, nil // source-controller runs with another --artifact-digest-algo
	case artifact != found.Layer.Digest:
		return nil, fmt.Errorf("the layer with the catalog is %s, but the OCIRepository, which copies it, has %s",
			found.Layer.Digest, artifact)
	}
	return extracted, nil
}

// allows reports whether the source can have the location with the format in its spec, which may have changed. By the
// format Auto, only images are of the format FileBased.
func (s Observed) allows(l Location) bool {
	return l.Image != nil || s.isAuto() == (l.Format != v1alpha1.FormatFileBased)
}
