// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/registry/remote"
)

// ConfigsLabel is the label of a catalog image that names the directory with the catalog.
const ConfigsLabel = "operators.operatorframework.io.index.configs.v1"

// PushCatalogImage pushes an image with these labels to the registry as "name:tag", and returns the manifest's digest.
// Each directory is a layer of it, lowest first, with the files of a file-based catalog below the directory that
// ConfigsLabel names, or /configs. Files such as .wh.NAME are whiteouts. A relative path starts at the root of the
// repository.
func (s *Stack) PushCatalogImage(ctx context.Context, ref string, labels map[string]string, dirs ...string) (digest.Digest, error) {
	below := strings.TrimPrefix(path.Clean(cmp.Or(labels[ConfigsLabel], "/configs")), "/")
	return s.pushImage(ctx, ref, labels, below, dirs...)
}

// PushBundleImage pushes an image of a bundle, whose directory has manifests/ and metadata/, as "name:tag", and returns
// the manifest's digest.
func (s *Stack) PushBundleImage(ctx context.Context, ref, dir string) (digest.Digest, error) {
	return s.pushImage(ctx, ref, nil, "", dir)
}

// pushImage pushes an image with a layer for each directory, whose files are below a path.
func (s *Stack) pushImage(ctx context.Context, ref string, labels map[string]string, below string, dirs ...string) (digest.Digest, error) {
	var layers []tarball
	for _, dir := range dirs {
		layer, err := packDirectory(fromRoot(s.root, dir), below)
		if err != nil {
			return "", fmt.Errorf("packing %s: %w", dir, err)
		}
		layers = append(layers, layer)
	}
	return s.push(ctx, ref, func(to *remote.Repository) (ocispec.Descriptor, error) {
		return pushImage(ctx, to, layers, labels)
	})
}

func pushImage(ctx context.Context, to *remote.Repository, layers []tarball, labels map[string]string) (ocispec.Descriptor, error) {
	image := ocispec.Image{
		Platform: ocispec.Platform{OS: "linux", Architecture: "amd64"},
		Config:   ocispec.ImageConfig{Labels: labels},
		RootFS:   ocispec.RootFS{Type: "layers"},
	}
	pack := oras.PackManifestOptions{ManifestAnnotations: fixedCreation()}
	for _, layer := range layers {
		pushed, err := pushBlob(ctx, to, ocispec.MediaTypeImageLayerGzip, layer.gzip)
		if err != nil {
			return ocispec.Descriptor{}, err
		}
		pack.Layers = append(pack.Layers, pushed)
		image.RootFS.DiffIDs = append(image.RootFS.DiffIDs, layer.diffID)
	}
	content, err := json.Marshal(image)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	config, err := pushBlob(ctx, to, ocispec.MediaTypeImageConfig, content)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	pack.ConfigDescriptor = &config
	return oras.PackManifest(ctx, to, oras.PackManifestVersion1_1, "", pack)
}
