package source

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
)

// failedFetch is the error of a slow request to a registry. It is returned to all callers until it expires.
type failedFetch struct {
	err   error
	until time.Time
}

// maxFailedFetches bounds the number of cached errors. Errors that come within slow are not cached.
const (
	maxFailedFetches = 1024
	slow             = time.Second
)

// withRegistry calls do with a connection to the repository of the source. The error of a registry that hangs
// is cached for as long as the request took, so that a hundred selections of one source do not block the
// workers in turns. It is that of one revision: the content of another one is not to blame for it.
func (c *Catalogs) withRegistry(ctx context.Context, source Observed, do func(context.Context, *registries.Connection) error) error {
	key := fmt.Sprintf("%s %d %s", source.Name, source.repository.Generation, source.Artifact.Revision)
	if last, ok := c.failedFetches.Get(key); ok && time.Now().Before(last.until) {
		return last.err
	}
	start := time.Now()
	err := c.connect(ctx, source, do)
	if took := time.Since(start); err != nil && took > slow && ctx.Err() == nil {
		c.failedFetches.Add(key, failedFetch{err: err, until: time.Now().Add(took)})
	}
	return err
}

func (c *Catalogs) connect(ctx context.Context, source Observed, do func(context.Context, *registries.Connection) error) error {
	timeout := fetchTimeout
	if own := source.repository.Spec.Timeout; own != nil && own.Duration < timeout {
		timeout = own.Duration
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	from, err := c.registries.Connect(ctx, registries.OfSource(source.repository))
	if err != nil {
		return err
	}
	defer from.Close()
	return from.Plain(do(ctx, from))
}

// loadLayer loads the catalog from a layer in the registry that source-controller has not selected.
func (c *Catalogs) loadLayer(ctx context.Context, source Observed) (*catalog.Catalog, error) {
	layer := *source.Location.Layer
	return c.loads.layer(ctx, source, layer.Size, func() ([]byte, error) { return c.fetchLayer(ctx, source, layer) })
}

func (c *Catalogs) fetchLayer(ctx context.Context, source Observed, layer v1.Descriptor) ([]byte, error) {
	var raw []byte
	err := c.withRegistry(ctx, source, func(ctx context.Context, from *registries.Connection) (err error) {
		raw, err = registry.FetchLayer(ctx, from.Repository, layer, archive.DefaultLimits().Compressed)
		return err
	})
	var large *registry.TooLargeError
	switch {
	case errors.As(err, &large):
		return nil, failure.Because(v1alpha1.InvalidArchiveReason, fmt.Errorf("source %s: %w", source.Name, err))
	case err != nil:
		return nil, failure.Because(v1alpha1.FetchFailedReason, fmt.Errorf("fetching the layer %s of source %s: %w", layer.Digest, source.Name, err))
	}
	return raw, nil
}
