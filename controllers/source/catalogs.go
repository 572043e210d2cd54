package source

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/fluxcd/pkg/http/fetch"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
)

// fetchTimeout bounds a download with all its retries: a source that sends without end must not
// block a worker.
const fetchTimeout = 2 * time.Minute

// Catalogs downloads and parses the catalogs of sources, once for all selections that share one. It caches
// parsed catalogs of up to cacheBytes. Call NewCatalogs: the zero value is not usable.
type Catalogs struct {
	fetcher    *fetch.ArchiveFetcher
	registries *registries.Registries
	flights    singleflight.Group
	budget     int64
	loads      loads
	// lookups caches the locations of catalogs, see contract.go.
	lookups       *lru.Cache[string, lookup]
	failedFetches *lru.Cache[string, failedFetch]

	mu    sync.Mutex
	size  int64
	cache *simplelru.LRU[string, *catalog.Catalog]
}

// NewCatalogs returns an empty cache of catalogs that take at most cacheBytes bytes of memory. A download is
// retried httpRetry times; host, if not empty, replaces the host of all URLs. The manifests of OCIRepositories
// are read by registries.
func NewCatalogs(cacheBytes int64, httpRetry int, host string, registries *registries.Registries) *Catalogs {
	c := &Catalogs{budget: cacheBytes, loads: newLoads(), registries: registries, fetcher: fetch.New(
		fetch.WithRetries(httpRetry),
		fetch.WithMaxDownloadSize(int(archive.DefaultLimits().Compressed)),
		fetch.WithHostnameOverwrite(host),
		fetch.WithFileName(archiveFile),
	)}
	evicted := func(_ string, old *catalog.Catalog) { c.size -= old.Size() }
	c.lookups, _ = lru.New[string, lookup](maxLookups)
	c.failedFetches, _ = lru.New[string, failedFetch](maxFailedFetches)
	// The number of entries has a bound because an empty catalog has no bytes.
	c.cache, _ = simplelru.NewLRU(1024, evicted)
	return c
}

const archiveFile = "source.tar.gz"

// load returns the catalog of a source, from the cache if possible. The key contains the URL, so that no
// selection reads the content of a source by its digest alone.
func (c *Catalogs) load(ctx context.Context, source Observed) (*catalog.Catalog, error) {
	digest, fetch := source.Artifact.Digest, c.download
	switch {
	case source.Location == nil:
	case source.Location.Image != nil:
		digest, fetch = source.Location.Image.Digest.String(), c.loadImage
	case source.Location.Layer != nil:
		digest, fetch = source.Location.Layer.Digest.String(), c.loadLayer
	}
	key := digest + " " + source.Artifact.URL + " " + source.place().Key()
	if cached, ok := c.get(key); ok {
		return cached, nil
	}
	loaded, err, _ := c.flights.Do(key, func() (any, error) {
		if cached, ok := c.get(key); ok {
			return cached, nil
		}
		fresh, err := fetch(ctx, source)
		if err != nil {
			return nil, err
		}
		c.put(key, fresh)
		return fresh, nil
	})
	if err != nil {
		return nil, err
	}
	return loaded.(*catalog.Catalog), nil
}

func (c *Catalogs) download(ctx context.Context, source Observed) (*catalog.Catalog, error) {
	limit := archive.DefaultLimits().Compressed
	if size := source.Artifact.Size; size != nil && *size > limit {
		return nil, failure.Because(v1alpha1.InvalidArchiveReason, fmt.Errorf(
			"the artifact of source %s has %d bytes, more than %d", source.Name, *size, limit))
	}
	dir, err := os.MkdirTemp("", "winnow-fetch-")
	if err != nil {
		return nil, failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("making a temporary directory: %w", err))
	}
	defer os.RemoveAll(dir)
	name := source.Name.String()
	timeout, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	if err := c.fetcher.FetchWithContext(timeout, source.Artifact.URL, source.Artifact.Digest, dir); err != nil {
		return nil, failure.Because(v1alpha1.FetchFailedReason, fmt.Errorf("fetching the artifact of source %s: %w", name, err))
	}
	file, err := os.OpenInRoot(dir, archiveFile)
	if err != nil {
		return nil, failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("opening the artifact of source %s: %w", name, err))
	}
	defer file.Close()
	return c.loads.parse(ctx, source, file)
}

func (c *Catalogs) get(key string) (*catalog.Catalog, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cache.Get(key)
}

func (c *Catalogs) put(key string, fresh *catalog.Catalog) {
	size := fresh.Size()
	if size > c.budget {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.size+size > c.budget {
		c.cache.RemoveOldest()
	}
	c.cache.Add(key, fresh)
	c.size += size
}
