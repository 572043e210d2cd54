package source

import (
	"context"
	"fmt"
	"io"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/memory"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/contract"
)

// loadImage loads the catalog from the layers of an image. source-controller extracts one layer of it at most.
func (c *Catalogs) loadImage(ctx context.Context, source Observed) (*catalog.Catalog, error) {
	// The layers are of any size, and most of what they have is no part of the catalog: only a file has room for that.
	file, err := memory.NewFile("winnow-image-")
	if err != nil {
		return nil, failure.Because(v1alpha1.StorageFailedReason, err)
	}
	defer file.Close()
	err = c.withRegistry(ctx, source, func(ctx context.Context, from *registries.Connection) error {
		return unpackImage(ctx, from, source, file)
	})
	switch {
	case isInvalid(err):
		return nil, failure.Because(v1alpha1.InvalidArchiveReason, fmt.Errorf("source %s: the image of the catalog: %w", source.Name, err))
	case err != nil:
		return nil, failure.Because(v1alpha1.FetchFailedReason, fmt.Errorf("fetching the image %s of source %s: %w", source.Location.Image.Digest, source.Name, err))
	}
	return c.parse(ctx, source, file)
}

// unpackImage writes the catalog of an image as an archive. The manifest is that of the lookup, by its digest.
func unpackImage(ctx context.Context, from *registries.Connection, source Observed, to io.Writer) error {
	manifest, raw, err := registry.FetchManifest(ctx, from.Repository, source.Location.Image.Digest.String())
	if err != nil {
		return err
	}
	image, err := registry.FetchImage(ctx, from.Repository, manifest, raw)
	if err != nil {
		return err
	}
	directory, err := contract.CatalogDirectory(image.Labels)
	if err != nil {
		return err
	}
	return image.Unpack(ctx, from.Repository, directory, to, registry.UnpackLimits{})
}
