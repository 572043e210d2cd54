package stack

import (
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

// PushCatalogImage pushes the file-based catalog in a directory to the registry as "name:tag", in an image of one layer
// with these labels, and returns the manifest's digest. The catalog is in the directory that ConfigsLabel names, or in
// /configs. A relative path starts at the root of the repository.
func (s *Stack) PushCatalogImage(ctx context.Context, dir, ref string, labels map[string]string) (digest.Digest, error) {
	below := "configs"
	if named := labels[ConfigsLabel]; named != "" {
		below = strings.TrimPrefix(path.Clean(named), "/")
	}
	layer, err := packDirectory(fromRoot(s.root, dir), below)
	if err != nil {
		return "", fmt.Errorf("packing %s: %w", dir, err)
	}
	return s.push(ctx, ref, func(to *remote.Repository) (ocispec.Descriptor, error) {
		return pushImage(ctx, to, layer, labels)
	})
}

func pushImage(ctx context.Context, to *remote.Repository, layer tarball, labels map[string]string) (ocispec.Descriptor, error) {
	image, err := json.Marshal(ocispec.Image{
		Platform: ocispec.Platform{OS: "linux", Architecture: "amd64"},
		Config:   ocispec.ImageConfig{Labels: labels},
		RootFS:   ocispec.RootFS{Type: "layers", DiffIDs: []digest.Digest{layer.diffID}},
	})
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	config, err := pushBlob(ctx, to, ocispec.MediaTypeImageConfig, image)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	content, err := pushBlob(ctx, to, ocispec.MediaTypeImageLayerGzip, layer.gzip)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	return oras.PackManifest(ctx, to, oras.PackManifestVersion1_1, "", oras.PackManifestOptions{
		ConfigDescriptor: &config, Layers: []ocispec.Descriptor{content}, ManifestAnnotations: fixedCreation(),
	})
}
