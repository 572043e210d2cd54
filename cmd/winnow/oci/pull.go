package oci

import (
	"context"
	"errors"
	"fmt"

	"oras.land/oras-go/v2/errdef"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/contract"
)

// Pulled is the layer of an artifact with a catalog.
type Pulled struct {
	// Digest of the manifest.
	Digest string
	Layer  []byte
	// Format that the manifest names, or that was asked for.
	Format string
}

// Pull fetches the layer with a catalog of the format, one of spec.sources[].format. It verifies the digests of
// manifest and layer. It returns a *render.Error for an invalid artifact.
func (r *Repository) Pull(ctx context.Context, format string) (Pulled, error) {
	manifest, raw, err := registry.FetchManifest(ctx, r.remote, r.remote.Reference.Reference)
	if errors.Is(err, errdef.ErrNotFound) {
		return Pulled{}, fmt.Errorf("%w; no such repository or tag, or this account must not see it", err)
	}
	if err != nil {
		return Pulled{}, refuseTooLarge(advise(r.remote, err))
	}
	catalog, err := contract.Read(manifest.MediaType, raw)
	found, chosen := catalog.Layer, format != "" && format != v1alpha1.FormatAuto
	if err != nil && chosen {
		found, err = contract.FirstArchive(manifest.MediaType, raw) // Flux extracts this layer, and its content decides the format
	}
	if err != nil {
		return Pulled{}, notCatalog(err)
	}
	layer, err := registry.FetchLayer(ctx, r.remote, found, archive.DefaultLimits().Compressed)
	if err != nil {
		return Pulled{}, refuseTooLarge(fmt.Errorf("fetching the layer: %w", advise(r.remote, err)))
	}
	if !chosen {
		format = catalog.Format
	}
	return Pulled{Digest: manifest.Digest.String(), Layer: layer, Format: format}, nil
}

// refuseTooLarge converts a *registry.TooLargeError to the error of an invalid artifact.
func refuseTooLarge(err error) error {
	var large *registry.TooLargeError
	if errors.As(err, &large) {
		return notCatalog(large)
	}
	return err
}

// notCatalog returns the error for an artifact that is readable and not a catalog.
func notCatalog(err error) error {
	return &render.Error{Code: v1alpha1.ContractViolatedReason, Err: fmt.Errorf("the artifact is not a catalog: %w", err)}
}
