package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
)

// The manifests that carry a catalog: that of the catalog contract, and that of flux push
// artifact.
const (
	catalogArtifactType = "application/vnd.kubermatic.application-catalog.v1"
	catalogLayerTitle   = "applications"
	fluxConfigType      = "application/vnd.cncf.flux.config.v1+json"
	fluxLayerType       = "application/vnd.cncf.flux.content.v1.tar+gzip"
)

// maxManifest bounds a manifest, in bytes; registries allow 4 MiB.
const maxManifest = 4 << 20

// pullCatalog loads the directory dir of a catalog in a registry. Credentials are those of
// Docker's configuration.
func pullCatalog(ctx context.Context, where, dir string, plainHTTP bool) (*catalog.Catalog, error) {
	repository, err := newRepository(strings.TrimPrefix(where, ociScheme), plainHTTP)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	layer, err := pullLayer(ctx, repository)
	if err != nil {
		return nil, fmt.Errorf("pulling %s: %w", where, err)
	}
	return render.LoadArchive(ctx, where, bytes.NewReader(layer), dir)
}

func newRepository(reference string, plainHTTP bool) (*remote.Repository, error) {
	repository, err := remote.NewRepository(reference)
	if err != nil {
		return nil, err
	}
	if repository.Reference.Reference == "" {
		repository.Reference.Reference = "latest"
	}
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading Docker's configuration: %w", err)
	}
	repository.PlainHTTP = plainHTTP
	repository.Client = &auth.Client{
		Client:     retry.DefaultClient,
		Cache:      auth.NewCache(),
		Credential: credentials.Credential(store),
	}
	return repository, nil
}

// pullLayer fetches the layer with the catalog; oras-go checks all digests.
func pullLayer(ctx context.Context, repository *remote.Repository) ([]byte, error) {
	descriptor, err := repository.Resolve(ctx, repository.Reference.Reference)
	if err != nil {
		return nil, err
	}
	if descriptor.MediaType != v1.MediaTypeImageManifest {
		return nil, fmt.Errorf("want an image manifest, found %s", descriptor.MediaType)
	}
	if descriptor.Size > maxManifest {
		return nil, fmt.Errorf("the manifest has %d bytes, more than %d", descriptor.Size, maxManifest)
	}
	raw, err := content.FetchAll(ctx, repository, descriptor)
	if err != nil {
		return nil, fmt.Errorf("fetching the manifest: %w", err)
	}
	var manifest v1.Manifest
	if err := json.Unmarshal(raw, &manifest); err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	layer, err := catalogLayer(manifest)
	if err != nil {
		return nil, err
	}
	if limit := archive.DefaultLimits().Compressed; layer.Size > limit {
		return nil, fmt.Errorf("the layer has %d bytes, more than %d", layer.Size, limit)
	}
	return content.FetchAll(ctx, repository, layer)
}

// catalogLayer finds the layer that holds the catalog.
func catalogLayer(manifest v1.Manifest) (v1.Descriptor, error) {
	var matching []v1.Descriptor
	switch {
	case manifest.ArtifactType == catalogArtifactType:
		for _, layer := range manifest.Layers {
			if layer.MediaType == v1.MediaTypeImageLayerGzip && layer.Annotations[v1.AnnotationTitle] == catalogLayerTitle {
				matching = append(matching, layer)
			}
		}
	case manifest.Config.MediaType == fluxConfigType:
		for _, layer := range manifest.Layers {
			if layer.MediaType == fluxLayerType {
				matching = append(matching, layer)
			}
		}
	default:
		return v1.Descriptor{}, fmt.Errorf("not a catalog: want artifactType %s, or config %s; found artifactType %q, config %q",
			catalogArtifactType, fluxConfigType, manifest.ArtifactType, manifest.Config.MediaType)
	}
	if len(matching) != 1 {
		return v1.Descriptor{}, fmt.Errorf("want exactly one layer with the catalog, found %d among %d layers",
			len(matching), len(manifest.Layers))
	}
	return matching[0], nil
}
