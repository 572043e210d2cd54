// SPDX-License-Identifier: Apache-2.0

// Package contract reads the format of a catalog, and the one layer that holds it, from an OCI manifest.
// It gets the manifest's bytes, and must not know how they are fetched.
package contract

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// The manifest of a catalog: its artifactType, and the media type and the title of the layer.
const (
	ArtifactType   = "application/vnd.kubermatic.application-catalog.v1"
	LayerMediaType = v1.MediaTypeImageLayerGzip
	LayerTitle     = "applications"
)

// The media types of config and layer that `flux push artifact` sets.
const (
	FluxConfigMediaType = "application/vnd.cncf.flux.config.v1+json"
	FluxLayerMediaType  = "application/vnd.cncf.flux.content.v1.tar+gzip"
)

// The media types of layers that are a document of functions, as KEP-2906 names them.
const (
	FunctionCatalogMediaType    = "application/vnd.cncf.kubernetes.krm-func-catalog.layer.v1+yaml"
	FunctionDefinitionMediaType = "application/vnd.cncf.kubernetes.krm-func-definition.layer.v1+yaml"
)

// familyPrefix begins the artifactType of every version of the contract.
const familyPrefix = "application/vnd.kubermatic.application-catalog."

// Contract has the properties of a catalog that its manifest names.
type Contract struct {
	// Format of the catalog, as in spec.sources[].format. FormatAuto: the manifest does not name it, so
	// the content decides.
	Format string
	// Layer holds the catalog, as tar+gzip.
	Layer v1.Descriptor

	layers []v1.Descriptor
}

// kind is a kind of manifest that carries a catalog. A new version of the contract is a new kind.
type kind struct {
	is      func(v1.Manifest) bool
	carries func(v1.Descriptor) bool
	format  string
	layer   string // for people
}

func kinds() []kind {
	return []kind{{
		is: func(m v1.Manifest) bool { return artifactType(m) == ArtifactType },
		carries: func(layer v1.Descriptor) bool {
			return layer.MediaType == LayerMediaType && layer.Annotations[v1.AnnotationTitle] == LayerTitle
		},
		format: v1alpha1.FormatApplications,
		layer:  fmt.Sprintf("one layer of media type %s with the title %s", LayerMediaType, LayerTitle),
	}, {
		is:      func(m v1.Manifest) bool { return m.Config.MediaType == FluxConfigMediaType },
		carries: func(layer v1.Descriptor) bool { return layer.MediaType == FluxLayerMediaType },
		format:  v1alpha1.FormatAuto,
		layer:   "one layer of media type " + FluxLayerMediaType,
	}}
}

// artifactType returns the artifactType of a manifest. Without one, it is the media type of the config,
// by the distribution specification: artifacts in a registry without OCI 1.1 have only that.
func artifactType(m v1.Manifest) string {
	return cmp.Or(m.ArtifactType, m.Config.MediaType)
}

// Read reads a manifest that a registry serves with the media type. An error names the violation of the
// contract, the content that was found, and a remedy; the same manifest fails in the same way.
func Read(mediaType string, raw []byte) (Contract, error) {
	m, err := parse(mediaType, raw)
	if err != nil {
		return Contract{}, err
	}
	if k, known := each.First(kinds(), func(k kind) bool { return k.is(m) }); known {
		return k.read(m)
	}
	found := artifactType(m)
	if strings.HasPrefix(found, familyPrefix) {
		return Contract{}, fmt.Errorf("its artifactType is %s, but this version of Winnow reads %s: "+
			"upgrade Winnow, or take an older catalog", brief(found), ArtifactType)
	}
	return Contract{}, fmt.Errorf("its artifactType is %s, want %s, as winnow push makes it, or an artifact of flux push artifact; "+
		"where it holds a catalog nevertheless, set format: %s for the source", brief(found), ArtifactType, v1alpha1.FormatApplications)
}

// parse refuses anything but an image manifest, by the registry's media type and by the bytes: clients
// would read a document that is both manifest and index in different ways.
func parse(mediaType string, raw []byte) (v1.Manifest, error) {
	var m struct {
		v1.Manifest
		Manifests json.RawMessage `json:"manifests"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m.Manifest, fmt.Errorf("its manifest cannot be read: %w", jsonError(err))
	}
	switch own := cmp.Or(m.MediaType, mediaType); {
	case m.Manifests != nil:
		return m.Manifest, errors.New("it is an index of several manifests: push a single manifest, as winnow push does")
	case own != v1.MediaTypeImageManifest:
		return m.Manifest, fmt.Errorf("its media type is %s, want %s", brief(own), v1.MediaTypeImageManifest)
	}
	return m.Manifest, nil
}

// jsonError drops the offset and Go's types from an error of encoding/json.
func jsonError(err error) error {
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s is a %s", brief(strings.TrimPrefix(mistyped.Field, "Manifest.")), mistyped.Value)
	}
	return err
}

func (k kind) read(m v1.Manifest) (Contract, error) {
	matching := each.Where(m.Layers, k.carries)
	switch len(matching) {
	case 0:
		return Contract{}, fmt.Errorf("want exactly %s, found none: it has %s", k.layer, describe(m.Layers))
	case 1:
	default:
		return Contract{}, fmt.Errorf("want exactly %s, found %d among %d layers", k.layer, len(matching), len(m.Layers))
	}
	return Contract{Format: k.format, Layer: matching[0], layers: m.Layers}, valid(matching[0])
}

// IgnoredLists says what it means that ListsLayer is true.
const IgnoredLists = "the layer catalogs is ignored, by Winnow and by Flux: named lists belong into the layer of the applications, as winnow push writes it"

// ListsLayer reports whether another layer has the title of the named lists: it is ignored, as every layer beside the catalog.
func (c Contract) ListsLayer() bool {
	return slices.ContainsFunc(c.layers, func(l v1.Descriptor) bool {
		return l.Digest != c.Layer.Digest && l.Annotations[v1.AnnotationTitle] == "catalogs"
	})
}

// CarriedBy reports whether source-controller extracts the layer of the catalog if the layerSelector of
// an OCIRepository has the media type; empty is no layerSelector. source-controller takes the first
// layer, or the first one of the media type.
func (c Contract) CarriedBy(mediaType string) bool {
	extracted, found := each.First(c.layers, func(l v1.Descriptor) bool { return mediaType == "" || l.MediaType == mediaType })
	return found && extracted.Digest == c.Layer.Digest
}

// FirstArchive returns the first layer of a manifest with the media type of an archive, for any kind of artifact: the
// layer that source-controller extracts without a layerSelector.
func FirstArchive(mediaType string, raw []byte) (v1.Descriptor, error) {
	return firstLayer(mediaType, raw, "that is a tar+gzip", func(layer string) bool {
		return strings.HasSuffix(layer, "tar+gzip") || strings.HasSuffix(layer, "tar.gzip")
	})
}

// firstLayer returns the first layer with a media type that is wanted.
func firstLayer(mediaType string, raw []byte, which string, wanted func(mediaType string) bool) (v1.Descriptor, error) {
	m, err := parse(mediaType, raw)
	if err != nil {
		return v1.Descriptor{}, err
	}
	layer, found := each.First(m.Layers, func(l v1.Descriptor) bool { return wanted(l.MediaType) })
	if !found {
		return layer, fmt.Errorf("want a layer %s, found none: it has %s", which, describe(m.Layers))
	}
	return layer, valid(layer)
}

// RenderedLayer returns the layer of an artifact that Winnow has rendered and pushed. other is why a manifest is not one of
// such an artifact.
func RenderedLayer(mediaType string, raw []byte) (layer v1.Descriptor, other string, err error) {
	m, err := parse(mediaType, raw)
	switch found := artifactType(m); {
	case err != nil:
		return layer, err.Error(), nil
	case found != v1alpha1.RenderedArtifactType:
		return layer, fmt.Sprintf("its artifactType is %s, and not %s", brief(found), v1alpha1.RenderedArtifactType), nil
	case len(m.Layers) != 1 || m.Layers[0].MediaType != v1.MediaTypeImageLayerGzip:
		return layer, "", fmt.Errorf("want exactly one layer of media type %s: it has %s", v1.MediaTypeImageLayerGzip, describe(m.Layers))
	}
	return m.Layers[0], "", valid(m.Layers[0])
}

// OriginOf returns the revisions of the sources that an artifact was rendered from, which its manifest has; empty where it has none.
func OriginOf(mediaType string, raw []byte) string {
	m, err := parse(mediaType, raw)
	if err != nil {
		return ""
	}
	return m.Annotations[v1.AnnotationRevision]
}

// ChartMediaType is the media type of the layer that is a chart of Helm.
const ChartMediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

// ChartLayer returns the layer of a manifest that is a chart of Helm.
func ChartLayer(mediaType string, raw []byte) (v1.Descriptor, error) {
	return firstLayer(mediaType, raw, "of media type "+ChartMediaType, func(layer string) bool { return layer == ChartMediaType })
}

// FunctionDocuments returns the layers of a manifest that are documents of functions, for any kind of artifact.
func FunctionDocuments(mediaType string, raw []byte) (documents []v1.Descriptor) {
	m, err := parse(mediaType, raw)
	if err != nil {
		return nil
	}
	return each.Where(m.Layers, func(layer v1.Descriptor) bool {
		return (layer.MediaType == FunctionCatalogMediaType || layer.MediaType == FunctionDefinitionMediaType) && valid(layer) == nil
	})
}

// valid refuses a descriptor that cannot be fetched.
func valid(layer v1.Descriptor) error {
	if err := layer.Digest.Validate(); err != nil || layer.Size <= 0 {
		return fmt.Errorf("its layer has the digest %s and %d bytes, which cannot be", brief(layer.Digest.String()), layer.Size)
	}
	return nil
}

// describe lists layers for a message, at most five.
func describe(layers []v1.Descriptor) string {
	const listed = 5
	if len(layers) == 0 {
		return "no layers"
	}
	parts := each.Map(layers, func(layer v1.Descriptor) string {
		if title := layer.Annotations[v1.AnnotationTitle]; title != "" {
			return brief(layer.MediaType) + " with the title " + brief(title)
		}
		return brief(layer.MediaType)
	})
	return strings.Join(excerpt.First(parts, listed, 0, func(more int) string { return fmt.Sprintf("%d more", more) }), ", ")
}

// brief quotes an untrusted text and cuts it.
func brief(text string) string { return excerpt.QuotedTo(text, 128) }
