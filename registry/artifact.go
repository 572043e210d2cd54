// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"encoding/json"
	"fmt"

	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
)

// Blob is content that a registry stores under its digest.
type Blob struct {
	Descriptor v1.Descriptor
	Content    []byte
}

// NewBlob returns the blob with the content.
func NewBlob(mediaType string, data []byte) Blob {
	return Blob{Descriptor: content.NewDescriptorFromBytes(mediaType, data), Content: data}
}

// Artifact is a manifest with the blobs that it refers to.
type Artifact struct {
	Config, Layer, Manifest Blob
}

// Pack returns an artifact of one layer. It depends on its arguments alone: unlike oras.PackManifest, it
// does not add a creation time.
func Pack(artifactType string, layer Blob, annotations map[string]string) (Artifact, error) {
	return pack(artifactType, Blob{v1.DescriptorEmptyJSON, v1.DescriptorEmptyJSON.Data}, layer, annotations)
}

// PackConfig is Pack of an artifact whose config says what it is, by its media type.
func PackConfig(config, layer Blob, annotations map[string]string) (Artifact, error) {
	return pack("", config, layer, annotations)
}

// NewImage returns the artifact that a container image of one layer, a tar+gzip, is.
func NewImage(config, layer, manifest []byte) Artifact {
	return Artifact{
		Config:   NewBlob(v1.MediaTypeImageConfig, config),
		Layer:    NewBlob(v1.MediaTypeImageLayerGzip, layer),
		Manifest: NewBlob(v1.MediaTypeImageManifest, manifest),
	}
}

func pack(artifactType string, config, layer Blob, annotations map[string]string) (Artifact, error) {
	manifest, err := json.Marshal(v1.Manifest{
		Versioned:    specs.Versioned{SchemaVersion: 2},
		MediaType:    v1.MediaTypeImageManifest,
		ArtifactType: artifactType,
		Config:       config.Descriptor,
		Layers:       []v1.Descriptor{layer.Descriptor},
		Annotations:  annotations,
	})
	if err != nil {
		return Artifact{}, fmt.Errorf("encoding the manifest: %w", err)
	}
	return Artifact{Config: config, Layer: layer, Manifest: NewBlob(v1.MediaTypeImageManifest, manifest)}, nil
}
