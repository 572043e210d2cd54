// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
)

// Media types that registries of Docker use for what OCI has as well.
const (
	dockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	dockerIndex    = "application/vnd.docker.distribution.manifest.list.v2+json"
	dockerConfig   = "application/vnd.docker.container.image.v1+json"
)

// The platform whose image is taken out of an index.
const (
	imageOS           = "linux"
	imageArchitecture = "amd64"
)

const (
	// maxConfig bounds the config of an image, in bytes.
	maxConfig = 4 << 20
	// maxLayers bounds the layers of an image. Docker allows 127.
	maxLayers = 128
)

// Image is a container image of one platform.
type Image struct {
	// Manifest of the image, never of an index.
	Manifest v1.Descriptor
	// Labels of its config.
	Labels map[string]string
	// Layers from the lowest to the highest.
	Layers []v1.Descriptor
}

// document has the fields of a manifest and the fields of an index.
type document struct {
	MediaType    string          `json:"mediaType"`
	ArtifactType string          `json:"artifactType"`
	Config       v1.Descriptor   `json:"config"`
	Layers       []v1.Descriptor `json:"layers"`
	Manifests    []v1.Descriptor `json:"manifests"`
}

// isImage reports whether the document is the manifest of a container image.
func (d document) isImage() bool {
	return d.ArtifactType == "" && d.Manifests == nil && slices.Contains([]string{v1.MediaTypeImageManifest, dockerManifest}, d.MediaType) &&
		slices.Contains([]string{v1.MediaTypeImageConfig, dockerConfig}, d.Config.MediaType)
}

// isIndex reports whether the document is an index of manifests.
func (d document) isIndex() bool {
	return d.ArtifactType == "" && d.Layers == nil && slices.Contains([]string{v1.MediaTypeImageIndex, dockerIndex}, d.MediaType)
}

// parse reads a document that a registry serves with the media type.
func parse(mediaType string, raw []byte) (d document, err error) {
	err = json.Unmarshal(raw, &d)
	d.MediaType = cmp.Or(d.MediaType, mediaType)
	return d, err
}

// MayBeImage reports whether a manifest, which a registry serves with the media type, belongs to a container image
// or to an index, which may have one.
func MayBeImage(mediaType string, raw []byte) bool {
	d, err := parse(mediaType, raw)
	return err == nil && (d.isImage() || d.isIndex())
}

// FetchImage returns the image that a manifest describes, or that an index has for linux/amd64. manifest and raw are
// what FetchManifest returned. It returns an *ImageError or a *TooLargeError for an image that cannot be.
func FetchImage(ctx context.Context, from *remote.Repository, manifest v1.Descriptor, raw []byte) (Image, error) {
	d, err := parse(manifest.MediaType, raw)
	if err != nil {
		return Image{}, refuse("its manifest cannot be read: %v", err)
	}
	if d.isIndex() {
		if manifest, raw, err = fetchPlatform(ctx, from, d.Manifests); err != nil {
			return Image{}, err
		}
		if d, err = parse(manifest.MediaType, raw); err != nil {
			return Image{}, refuse("the manifest %s of its index cannot be read: %v", manifest.Digest, err)
		}
		if !d.isImage() {
			return Image{}, refuse("it is an index of several manifests, and %s, for %s/%s, does not describe a container image: refer to the manifest of a catalog",
				manifest.Digest, imageOS, imageArchitecture)
		}
	}
	switch {
	case !d.isImage():
		return Image{}, refuse("its manifest %s does not describe a container image", manifest.Digest)
	case len(d.Layers) == 0:
		return Image{}, refuse("it has no layers")
	case len(d.Layers) > maxLayers:
		return Image{}, refuse("it has %d layers, more than %d", len(d.Layers), maxLayers)
	}
	labels, err := fetchLabels(ctx, from, d.Config)
	return Image{Manifest: manifest, Labels: labels, Layers: d.Layers}, err
}

// fetchPlatform fetches the manifest for the platform out of the manifests of an index.
func fetchPlatform(ctx context.Context, from *remote.Repository, manifests []v1.Descriptor) (v1.Descriptor, []byte, error) {
	i := slices.IndexFunc(manifests, func(m v1.Descriptor) bool {
		return m.Platform != nil && m.Platform.OS == imageOS && m.Platform.Architecture == imageArchitecture
	})
	if i < 0 {
		return v1.Descriptor{}, nil, refuse("it is an index without a manifest for %s/%s: it has %s", imageOS, imageArchitecture, platforms(manifests))
	}
	if err := manifests[i].Digest.Validate(); err != nil {
		return v1.Descriptor{}, nil, refuse("its index has the digest %.128q, which cannot be", manifests[i].Digest)
	}
	return FetchManifest(ctx, from, manifests[i].Digest.String())
}

// platforms lists the platforms of an index for a message, at most five.
func platforms(manifests []v1.Descriptor) string {
	const listed = 5
	var all []string
	for _, m := range manifests[:min(len(manifests), listed)] {
		name := "one without a platform"
		if m.Platform != nil {
			name = fmt.Sprintf("%.64q", m.Platform.OS+"/"+m.Platform.Architecture)
		}
		all = append(all, name)
	}
	if more := len(manifests) - len(all); more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

func fetchLabels(ctx context.Context, from content.Fetcher, config v1.Descriptor) (map[string]string, error) {
	switch {
	case config.Digest.Validate() != nil || config.Size <= 0:
		return nil, refuse("its config has the digest %.128q and %d bytes, which cannot be", config.Digest, config.Size)
	case config.Size > maxConfig:
		return nil, &TooLargeError{What: "config", Size: config.Size, Limit: maxConfig}
	}
	raw, err := content.FetchAll(ctx, from, config)
	if err != nil {
		return nil, fmt.Errorf("fetching the config: %w", err)
	}
	if err := checkElements("config", raw); err != nil {
		return nil, err
	}
	var image v1.Image
	err = json.Unmarshal(raw, &image)
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("%.128q is a %s", mistyped.Field, mistyped.Value)
	}
	if err != nil {
		return nil, refuse("its config cannot be read: %v", err)
	}
	return image.Config.Labels, nil
}
