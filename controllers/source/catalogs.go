// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"sync"

	"github.com/fluxcd/pkg/http/fetch"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/memory"
	"github.com/winnow-dev/winnow/controllers/metrics"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/controllers/transfers"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/guard"
)

// Catalogs downloads and parses the catalogs of sources, once for all selections that share one. It caches
// parsed catalogs of up to Cache.CacheBytes. Call NewCatalogs: the zero value is not usable.
type Catalogs struct {
	fetcher
	budget  int64
	metrics *metrics.Cache
	// lookups are the locations of catalogs with a contract.
	lookups *lru.Cache[string, lookup]
	// latest maps the place of a catalog to the key of the one that was loaded last.
	latest *lru.Cache[string, string]
	// dropped are the keys of catalogs for which the cache had no room.
	dropped     *lru.Cache[string, struct{}]
	looking     flights[lookup]
	downloading flights[*catalog.Catalog]

	mu    sync.Mutex
	size  int64
	cache *simplelru.LRU[string, *catalog.Catalog]
}

// CatalogOptions configures NewCatalogs.
type CatalogOptions struct {
	// CacheBytes is the most memory that cached catalogs take.
	CacheBytes int64
	// HTTPRetry is how often a download is retried.
	HTTPRetry int
	// Host, if not empty, replaces the host of all URLs.
	Host string
	// Registries reads manifests and layers of OCIRepositories.
	Registries *registries.Registries
	// Failures has the connections that do not answer. Required.
	Failures *transfers.Failures
	// Memory bounds the catalogs that are parsed at a time. Required.
	Memory *memory.Budget
	// Metrics measures the cache, and Traffic what is downloaded; both may be nil.
	Metrics *metrics.Cache
	Traffic *metrics.Traffic
}

// maxCatalogs bounds the number of cached catalogs, because an empty catalog has no bytes.
const maxCatalogs = 1024

// NewCatalogs returns an empty cache of catalogs.
func NewCatalogs(o CatalogOptions) *Catalogs {
	c := &Catalogs{budget: o.CacheBytes, metrics: o.Metrics, fetcher: fetcher{fetch.New(
		fetch.WithRetries(o.HTTPRetry),
		fetch.WithMaxDownloadSize(int(archive.DefaultLimits().Compressed)),
		fetch.WithHostnameOverwrite(o.Host),
		fetch.WithFileName(archiveFile),
	), o.Registries, o.Failures, o.Memory, o.Traffic}}
	evicted := func(key string, old *catalog.Catalog) {
		c.size -= old.Size()
		c.dropped.Add(key, struct{}{})
		c.metrics.Evict()
	}
	c.lookups, _ = lru.New[string, lookup](maxLookups)
	c.cache, _ = simplelru.NewLRU(maxCatalogs, evicted)
	c.latest, _ = lru.New[string, string](maxCatalogs)
	c.dropped, _ = lru.New[string, struct{}](maxCatalogs)
	c.metrics.Limit(o.CacheBytes)
	return c
}

// load returns the catalog of a source, from the cache if possible.
func (c *Catalogs) load(ctx context.Context, source Observed) (*catalog.Catalog, error) {
	key := source.catalogKey()
	if cached, ok := c.get(key); ok {
		c.metrics.Hit(1)
		return cached, nil
	}
	return c.downloading.do(ctx, key+" "+source.settings(), "the artifact of source "+source.Name.String(), func(ctx context.Context) (*catalog.Catalog, error) {
		if cached, ok := c.get(key); ok {
			return cached, nil
		}
		c.metrics.Miss(c.dropped.Contains(key))
		fresh, err := c.fetch(ctx, source, c.before(source))
		if err != nil {
			return nil, err
		}
		c.put(key, fresh)
		c.latest.Add(source.placeKey(), key)
		return fresh, nil
	})
}

// cached returns the catalog of a source without a download, if it is in the cache, and sets its location. The error is
// a cached violation of the contract.
func (c *Catalogs) cached(source *Observed) (*catalog.Catalog, bool, error) {
	if source.hasContract() && source.Location == nil {
		found, ok := c.lookups.Get(source.lookupKey())
		if !ok || found.violated != nil {
			return nil, ok, found.violated
		}
		source.Location = found.location
	}
	cached, ok := c.get(source.catalogKey())
	return cached, ok, nil
}

func (c *Catalogs) get(key string) (*catalog.Catalog, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cache.Get(key)
}

func (c *Catalogs) put(key string, fresh *catalog.Catalog) {
	c.mu.Lock()
	defer c.mu.Unlock()
	size := fresh.Size()
	if size > c.budget {
		c.dropped.Add(key, struct{}{})
		return
	}
	if c.cache.Contains(key) {
		return // two loads with different settings of the source have the same catalog
	}
	for c.size+size > c.budget {
		c.cache.RemoveOldest()
	}
	c.cache.Add(key, fresh)
	c.size += size
	c.dropped.Remove(key)
	c.metrics.Size(c.size)
}

// before returns the catalog of the revision of a source that was loaded last, nil if it is not in the cache.
func (c *Catalogs) before(source Observed) *catalog.Catalog {
	key, _ := c.latest.Get(source.placeKey())
	c.mu.Lock()
	defer c.mu.Unlock()
	last, _ := c.cache.Peek(key)
	return last
}

// lookup is the location of a catalog, or the violation of the contract.
type lookup struct {
	location *Location
	violated error
}

// maxLookups bounds the number of cached lookups.
const maxLookups = 4096

// locationOf returns the location of the catalog of a source with a contract. It fetches the manifest once.
func (c *Catalogs) locationOf(ctx context.Context, source Observed) (*Location, error) {
	key := source.lookupKey()
	if cached, ok := c.lookups.Get(key); ok {
		return cached.location, cached.violated
	}
	found, err := c.looking.do(ctx, key+" "+source.settings(), "the manifest of source "+source.Name.String(), func(ctx context.Context) (lookup, error) {
		found, err := c.readManifest(ctx, source)
		if err != nil && failure.ReasonOf(err) != v1alpha1.ContractViolatedReason {
			return lookup{}, err // temporary, so not cached
		}
		done := lookup{location: found, violated: err}
		c.lookups.Add(key, done)
		return done, nil
	})
	if err != nil {
		return nil, err
	}
	return found.location, found.violated
}

// readManifest fetches and reads the manifest of the artifact, by the digest in its revision.
func (f *fetcher) readManifest(ctx context.Context, source Observed) (*Location, error) {
	manifest := digest.Digest(guard.Checksum(source.Artifact.Revision))
	where := fmt.Sprintf("source %s: manifest %s of %s", source.Name, manifest, source.repository.Spec.URL)
	violated := func(err error) error {
		return failure.Because(v1alpha1.ContractViolatedReason, fmt.Errorf("%s: %w", where, err))
	}
	if err := manifest.Validate(); err != nil {
		return nil, violated(fmt.Errorf("the revision %s has no digest", source.Artifact.Revision))
	}
	var descriptor v1.Descriptor
	var image registry.Image
	var raw []byte
	err := f.withRegistry(ctx, source, func(ctx context.Context, from *registries.Connection) (err error) {
		if descriptor, raw, err = registry.FetchManifest(ctx, from.Repository, manifest.String()); err != nil {
			return err
		}
		if registry.MayBeImage(descriptor.MediaType, raw) {
			image, err = registry.FetchImage(ctx, from.Repository, descriptor, raw)
		}
		return err
	})
	switch {
	case isInvalid(err):
		return nil, violated(err)
	case err != nil:
		return nil, failure.Because(v1alpha1.FetchFailedReason, fmt.Errorf("fetching %s: %w", where, err))
	}
	location, err := source.locationBy(descriptor, raw, image)
	if err != nil {
		return nil, violated(err)
	}
	return location, nil
}
