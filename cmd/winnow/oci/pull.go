package oci

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/contract"
)

// Pulled is a catalog in a registry.
type Pulled struct {
	// Digest of the manifest.
	Digest string
	// Layer is a tar+gzip with the files: the layer of an artifact, or what the layers of an image have together.
	Layer []byte
	// Format that the manifest names, or that was asked for.
	Format string
}

// Pull fetches a catalog of the format, one of spec.sources[].format. It verifies the digests of
// manifest and layers. It returns a *render.Error for an invalid artifact.
func (r *Repository) Pull(ctx context.Context, format string) (Pulled, error) {
	manifest, raw, err := r.fetchManifest(ctx)
	if err != nil {
		return Pulled{}, err
	}
	chosen := format != "" && format != v1alpha1.FormatAuto
	if (!chosen || format == v1alpha1.FormatFileBased) && registry.MayBeImage(manifest.MediaType, raw) {
		return r.pullImage(ctx, manifest, raw)
	}
	catalog, err := contract.Read(manifest.MediaType, raw)
	found := catalog.Layer
	if err != nil && chosen {
		found, err = contract.FirstArchive(manifest.MediaType, raw) // Flux extracts this layer, and its content decides the format
	}
	if err != nil {
		return Pulled{}, notCatalog(err)
	}
	layer, err := registry.FetchLayer(ctx, r.remote, found, archive.DefaultLimits().Compressed)
	if err != nil {
		return Pulled{}, asInvalid(fmt.Errorf("fetching the layer: %w", r.advise(err)))
	}
	if !chosen {
		format = catalog.Format
	}
	return Pulled{Digest: manifest.Digest.String(), Layer: layer, Format: format}, nil
}

// pullImage fetches the catalog of an image. The digest is that of the manifest that the reference names, which may be
// an index.
func (r *Repository) pullImage(ctx context.Context, manifest v1.Descriptor, raw []byte) (Pulled, error) {
	image, err := registry.FetchImage(ctx, r.remote, manifest, raw)
	if err != nil {
		return Pulled{}, asInvalid(r.advise(err))
	}
	directory, err := contract.CatalogDirectory(image.Labels)
	if err != nil {
		return Pulled{}, notCatalog(err)
	}
	var files bytes.Buffer
	if err := image.Unpack(ctx, r.remote, directory, &files, registry.UnpackLimits{}); err != nil {
		return Pulled{}, asInvalid(fmt.Errorf("fetching the layers: %w", r.advise(err)))
	}
	return Pulled{Digest: manifest.Digest.String(), Layer: files.Bytes(), Format: v1alpha1.FormatFileBased}, nil
}

// asInvalid converts an error about the content of the registry to that of an invalid artifact.
func asInvalid(err error) error {
	var large *registry.TooLargeError
	var image *registry.ImageError
	if errors.As(err, &large) || errors.As(err, &image) {
		return notCatalog(err)
	}
	return err
}

// notCatalog returns the error for an artifact that is readable and not a catalog.
func notCatalog(err error) error {
	return &render.Error{Code: v1alpha1.ContractViolatedReason, Err: fmt.Errorf("the artifact is not a catalog: %w", err)}
}

// fetchManifest fetches the manifest that the reference names.
func (r *Repository) fetchManifest(ctx context.Context) (v1.Descriptor, []byte, error) {
	manifest, raw, err := registry.FetchManifest(ctx, r.remote, r.remote.Reference.Reference)
	if errors.Is(err, errdef.ErrNotFound) {
		return manifest, nil, fmt.Errorf("%w; no such repository or tag, or this account must not see it", err)
	}
	return manifest, raw, asInvalid(r.advise(err))
}
