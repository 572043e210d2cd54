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

// Pull fetches the layer with a catalog of the format, one of spec.sources[].format, and returns it with the digest of
// its manifest. It verifies the digests of both. It returns a *render.Error for an invalid artifact.
func (r *Repository) Pull(ctx context.Context, format string) (digest string, layer []byte, err error) {
	manifest, raw, err := registry.FetchManifest(ctx, r.remote, r.remote.Reference.Reference)
	if errors.Is(err, errdef.ErrNotFound) {
		return "", nil, fmt.Errorf("%w; no such repository or tag, or this account must not see it", err)
	}
	if err != nil {
		return "", nil, refuseTooLarge(advise(r.remote, err))
	}
	catalog, err := contract.Read(manifest.MediaType, raw)
	found := catalog.Layer
	if err != nil && format == v1alpha1.FormatApplications {
		found, err = contract.FirstArchive(manifest.MediaType, raw) // Flux extracts this layer, and its content decides the format
	}
	if err != nil {
		return "", nil, notCatalog(err)
	}
	layer, err = registry.FetchLayer(ctx, r.remote, found, archive.DefaultLimits().Compressed)
	if err != nil {
		return "", nil, refuseTooLarge(fmt.Errorf("fetching the layer: %w", advise(r.remote, err)))
	}
	return manifest.Digest.String(), layer, nil
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
