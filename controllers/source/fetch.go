package source

import (
	"context"
	"errors"
	"fmt"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/memory"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
)

// withRegistry calls do with a connection to the repository of the source, unless it has just failed. A connection belongs
// to the namespace of the source: the proxy or the password of one tenant says nothing about the host.
func (c *Catalogs) withRegistry(ctx context.Context, source Observed, do func(context.Context, *registries.Connection) error) error {
	timeout := fetchTimeout
	if own := source.repository.Spec.Timeout; own != nil && own.Duration < timeout {
		timeout = own.Duration
	}
	access := registries.OfSource(source.repository)
	return c.failures.Do(ctx, access.Connection(), access.Host(), timeout, func(ctx context.Context) error {
		from, err := c.registries.Connect(ctx, access)
		if err != nil {
			return err
		}
		defer from.Close()
		return from.Plain(do(ctx, from))
	})
}

// loadLayer loads the catalog from a layer in the registry that source-controller has not selected. A registry that
// sends slowly must not take memory that others need: the layer is written to a file.
func (c *Catalogs) loadLayer(ctx context.Context, source Observed) (*catalog.Catalog, error) {
	file, err := memory.NewFile("winnow-layer-")
	if err != nil {
		return nil, failure.Because(v1alpha1.StorageFailedReason, err)
	}
	defer file.Close()
	layer := *source.Location.Layer
	err = c.withRegistry(ctx, source, func(ctx context.Context, from *registries.Connection) error {
		return registry.CopyLayer(ctx, from.Repository, layer, archive.DefaultLimits().Compressed, file)
	})
	var large *registry.TooLargeError
	switch {
	case errors.As(err, &large):
		return nil, failure.Because(v1alpha1.InvalidArchiveReason, fmt.Errorf("source %s: %w", source.Name, err))
	case err != nil:
		return nil, failure.Because(v1alpha1.FetchFailedReason, fmt.Errorf("fetching the layer %s of source %s: %w", layer.Digest, source.Name, err))
	}
	return c.parse(ctx, source, file)
}
