// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/winnow-dev/winnow/registry"
)

// Shape is the form of the OCI manifest of a catalog.
type Shape int

const (
	// Contract is the form of `oras push --artifact-type ... REF applications:LAYER`: the artifactType of
	// catalogs, and one layer with the title "applications".
	Contract Shape = iota
	// FluxArtifact is the form of `flux push artifact`: Flux's media types of config and layer.
	FluxArtifact
)

// Media types of the shapes.
const (
	CatalogArtifactType   = "application/vnd.kubermatic.application-catalog.v1"
	CatalogLayerMediaType = ocispec.MediaTypeImageLayerGzip
	FluxConfigMediaType   = "application/vnd.cncf.flux.config.v1+json"
	FluxLayerMediaType    = "application/vnd.cncf.flux.content.v1.tar+gzip"
)

// catalogTitle is the title of the layer with the catalog.
const catalogTitle = "applications"

// PushOptions configure the manifest of PushCatalog. The zero value selects the shape Contract.
type PushOptions struct {
	Shape Shape
	// Annotations of the manifest, e.g. org.opencontainers.image.revision.
	Annotations map[string]string
}

// PushCatalog pushes a directory to the registry as "name:tag" and returns the manifest's digest, which is
// the same for the same content. The layer contains all files of the directory. A relative path starts at
// the root of the repository.
func (s *Stack) PushCatalog(ctx context.Context, dir, ref string, options PushOptions) (digest.Digest, error) {
	layer, err := packDirectory(fromRoot(s.root, dir), "")
	if err != nil {
		return "", fmt.Errorf("packing %s: %w", dir, err)
	}
	return s.push(ctx, ref, func(to *remote.Repository) (ocispec.Descriptor, error) {
		return pushManifest(ctx, to, layer, options)
	})
}

// packDirectory packs the files of a directory below another one.
func packDirectory(dir, below string) (tarball, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return tarball{}, err
	}
	layer, err := packTar(root.FS(), below)
	return layer, errors.Join(err, root.Close())
}

// push pushes what manifest pushes to a repository of the registry and sets the tag of the reference to it.
func (s *Stack) push(ctx context.Context, ref string, manifest func(*remote.Repository) (ocispec.Descriptor, error)) (digest.Digest, error) {
	name, tag, ok := strings.Cut(ref, ":")
	if !ok || s.registryHost == "" {
		return "", fmt.Errorf("pushing %s: want name:tag and a stack with a registry", ref)
	}
	repository, err := remote.NewRepository(s.registryHost + "/" + name)
	if err != nil {
		return "", fmt.Errorf("pushing %s: %w", ref, err)
	}
	repository.PlainHTTP = true
	pushed, err := manifest(repository)
	if err == nil {
		err = repository.Tag(ctx, pushed, tag)
	}
	if err != nil {
		return "", fmt.Errorf("pushing %s: %w", ref, err)
	}
	return pushed.Digest, nil
}

func pushManifest(ctx context.Context, to *remote.Repository, layer tarball, options PushOptions) (ocispec.Descriptor, error) {
	pack := oras.PackManifestOptions{ManifestAnnotations: fixedCreation()}
	maps.Copy(pack.ManifestAnnotations, options.Annotations)

	mediaType, artifactType := CatalogLayerMediaType, CatalogArtifactType
	if options.Shape == FluxArtifact {
		mediaType, artifactType = FluxLayerMediaType, ""
		config, err := pushFluxConfig(ctx, to, layer.diffID)
		if err != nil {
			return ocispec.Descriptor{}, err
		}
		pack.ConfigDescriptor = &config
	}
	descriptor, err := pushBlob(ctx, to, mediaType, layer.gzip)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	if options.Shape == Contract {
		descriptor.Annotations = map[string]string{ocispec.AnnotationTitle: catalogTitle}
	}
	pack.Layers = []ocispec.Descriptor{descriptor}
	return oras.PackManifest(ctx, to, oras.PackManifestVersion1_1, artifactType, pack)
}

// fixedCreation returns the annotation of a manifest's creation, with a fixed time for a reproducible digest.
func fixedCreation() map[string]string {
	return map[string]string{ocispec.AnnotationCreated: "1970-01-01T00:00:00Z"}
}

// pushFluxConfig pushes the config of an image without a platform, as Flux does.
func pushFluxConfig(ctx context.Context, to *remote.Repository, diffID digest.Digest) (ocispec.Descriptor, error) {
	config, err := json.Marshal(ocispec.Image{
		RootFS: ocispec.RootFS{Type: "layers", DiffIDs: []digest.Digest{diffID}},
	})
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	return pushBlob(ctx, to, FluxConfigMediaType, config)
}

func pushBlob(ctx context.Context, to *remote.Repository, mediaType string, content []byte) (ocispec.Descriptor, error) {
	blob := registry.NewBlob(mediaType, content)
	return blob.Descriptor, registry.PushBlob(ctx, to, blob)
}
