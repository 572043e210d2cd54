package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	ociregistry "oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/selection"
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

// pullCatalog loads the directory dir of a catalog in a registry, called name in errors.
// Credentials are those of Docker's configuration.
func pullCatalog(ctx context.Context, where, name, dir string, plainHTTP bool) (selection.Source, error) {
	repository, err := newRepository(strings.TrimPrefix(where, ociScheme), plainHTTP)
	if err != nil {
		return selection.Source{}, fmt.Errorf("%s: %w", where, err)
	}
	manifest, layer, err := pullLayer(ctx, repository)
	if err != nil {
		return selection.Source{}, fmt.Errorf("pulling %s: %w", where, err)
	}
	loaded, err := render.LoadArchive(ctx, name, bytes.NewReader(layer), dir)
	return selection.Source{Digest: manifest, Catalog: loaded}, err
}

func newRepository(reference string, plainHTTP bool) (*remote.Repository, error) {
	parsed, err := ociregistry.ParseReference(reference)
	if err != nil {
		return nil, err
	}
	return connect(parsed, plainHTTP, retry.DefaultClient)
}

// connect returns the repository, with the credentials of Docker's configuration. Nothing is
// sent yet.
func connect(reference ociregistry.Reference, plainHTTP bool, client *http.Client) (*remote.Repository, error) {
	repository := &remote.Repository{Reference: reference}
	if repository.Reference.Reference == "" {
		repository.Reference.Reference = "latest"
	}
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading Docker's configuration: %w", err)
	}
	repository.PlainHTTP = plainHTTP
	repository.Client = &auth.Client{
		Client:     client,
		Cache:      auth.NewCache(),
		Credential: credentials.Credential(store),
	}
	return repository, nil
}

// pullLayer fetches the layer with the catalog, and returns the digest of its manifest as well;
// oras-go checks all digests.
func pullLayer(ctx context.Context, repository *remote.Repository) (manifestDigest string, layer []byte, err error) {
	descriptor, err := repository.Resolve(ctx, repository.Reference.Reference)
	if errors.Is(err, errdef.ErrNotFound) {
		return "", nil, fmt.Errorf("%w; no such repository or tag, or this account must not see it", err)
	}
	if err != nil {
		return "", nil, advise(repository, err)
	}
	if descriptor.MediaType != v1.MediaTypeImageManifest {
		return "", nil, notCatalog("want an image manifest, found %s", descriptor.MediaType)
	}
	if descriptor.Size > maxManifest {
		return "", nil, notCatalog("its manifest has %d bytes, more than %d", descriptor.Size, maxManifest)
	}
	raw, err := content.FetchAll(ctx, repository, descriptor)
	if err != nil {
		return "", nil, fmt.Errorf("fetching the manifest: %w", advise(repository, err))
	}
	var manifest v1.Manifest
	if err := json.Unmarshal(raw, &manifest); err != nil {
		return "", nil, notCatalog("reading the manifest: %w", err)
	}
	blob, err := catalogLayer(manifest)
	if err != nil {
		return "", nil, err
	}
	if limit := archive.DefaultLimits().Compressed; blob.Size > limit {
		return "", nil, notCatalog("its layer has %d bytes, more than %d", blob.Size, limit)
	}
	raw, err = content.FetchAll(ctx, repository, blob)
	if err != nil {
		return "", nil, fmt.Errorf("fetching the layer: %w", advise(repository, err))
	}
	return descriptor.Digest.String(), raw, nil
}

// catalogLayer finds the layer that holds the catalog.
func catalogLayer(manifest v1.Manifest) (v1.Descriptor, error) {
	var carries func(v1.Descriptor) bool
	switch {
	case manifest.ArtifactType == catalogArtifactType:
		carries = func(layer v1.Descriptor) bool {
			return layer.MediaType == v1.MediaTypeImageLayerGzip && layer.Annotations[v1.AnnotationTitle] == catalogLayerTitle
		}
	case manifest.Config.MediaType == fluxConfigType:
		carries = func(layer v1.Descriptor) bool { return layer.MediaType == fluxLayerType }
	default:
		return v1.Descriptor{}, notCatalog("want artifactType %s or config %s, found artifactType %q and config %q",
			catalogArtifactType, fluxConfigType, manifest.ArtifactType, manifest.Config.MediaType)
	}
	var matching []v1.Descriptor
	for _, layer := range manifest.Layers {
		if carries(layer) {
			matching = append(matching, layer)
		}
	}
	if len(matching) != 1 {
		return v1.Descriptor{}, notCatalog("want exactly one layer with the catalog, found %d among %d layers",
			len(matching), len(manifest.Layers))
	}
	return matching[0], nil
}

// notCatalog says that what the registry has is readable, but carries no catalog.
func notCatalog(format string, args ...any) error {
	return &render.Error{
		Reason: v1alpha1.InvalidCatalogReason,
		Err:    fmt.Errorf("the artifact is not a catalog: "+format, args...),
	}
}
