package source

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/fluxcd/pkg/http/fetch"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/memory"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/controllers/transfers"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
)

// fetchTimeout bounds a download with all its retries: a source that sends without end must not keep its turn.
const fetchTimeout = 2 * time.Minute

// Catalogs downloads and parses the catalogs of sources, once for all selections that share one. It caches
// parsed catalogs of up to Cache.CacheBytes. Call NewCatalogs: the zero value is not usable.
type Catalogs struct {
	fetcher    *fetch.ArchiveFetcher
	registries *registries.Registries
	failures   *transfers.Failures
	memory     *memory.Budget
	budget     int64
	loading    flights[*catalog.Catalog]
	looking    flights[lookup]
	// lookups caches the locations of catalogs, see contract.go.
	lookups *lru.Cache[string, lookup]

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
}

// NewCatalogs returns an empty cache of catalogs.
func NewCatalogs(o CatalogOptions) *Catalogs {
	c := &Catalogs{budget: o.CacheBytes, memory: o.Memory, failures: o.Failures, registries: o.Registries, fetcher: fetch.New(
		fetch.WithRetries(o.HTTPRetry),
		fetch.WithMaxDownloadSize(int(archive.DefaultLimits().Compressed)),
		fetch.WithHostnameOverwrite(o.Host),
		fetch.WithFileName(archiveFile),
	)}
	evicted := func(_ string, old *catalog.Catalog) { c.size -= old.Size() }
	c.lookups, _ = lru.New[string, lookup](maxLookups)
	// The number of entries has a bound because an empty catalog has no bytes.
	c.cache, _ = simplelru.NewLRU(1024, evicted)
	return c
}

const archiveFile = "source.tar.gz"

// load returns the catalog of a source, from the cache if possible.
func (c *Catalogs) load(ctx context.Context, source Observed) (*catalog.Catalog, error) {
	key := source.catalogKey()
	if cached, ok := c.get(key); ok {
		return cached, nil
	}
	return c.loading.do(ctx, key+" "+source.settings(), "the artifact of source "+source.Name.String(), func(ctx context.Context) (*catalog.Catalog, error) {
		if cached, ok := c.get(key); ok {
			return cached, nil
		}
		fresh, err := c.fetch(ctx, source)
		if err != nil {
			return nil, err
		}
		c.put(key, fresh)
		return fresh, nil
	})
}

// cached returns the catalog of a source without a download, if it is in the cache, and sets its location. The error is
// that of a cached violation of the contract.
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

// catalogKey contains the source and the URL of its artifact, so that no selection reads the content of a source by its
// digest alone.
func (s Observed) catalogKey() string {
	digest := s.Artifact.Digest
	switch {
	case s.Location == nil:
	case s.Location.Image != nil:
		digest = s.Location.Image.Digest.String()
	case s.Location.Layer != nil:
		digest = s.Location.Layer.Digest.String()
	}
	return fmt.Sprintf("%s %s %s %s %s", s.Kind, s.Name, digest, s.Artifact.URL, s.place().Key())
}

// settings identifies the settings by which a source is fetched. Who has other credentials does not share a download.
func (s Observed) settings() string {
	if s.repository == nil {
		return ""
	}
	return fmt.Sprintf("%s %d", s.repository.UID, s.repository.Generation)
}

// host is that from which a source is fetched.
func (s Observed) host() string {
	if s.Location.fetched() || s.hasContract() && s.Location == nil {
		return registries.OfSource(s.repository).Host()
	}
	return hostOf(s.Artifact.URL)
}

func hostOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return address
	}
	return parsed.Host
}

func (c *Catalogs) fetch(ctx context.Context, source Observed) (*catalog.Catalog, error) {
	switch {
	case source.Location == nil:
	case source.Location.Image != nil:
		return c.loadImage(ctx, source)
	case source.Location.Layer != nil:
		return c.loadLayer(ctx, source)
	}
	return c.download(ctx, source)
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
	// The server of the artifacts is reached without credentials and proxy.
	host := hostOf(source.Artifact.URL)
	err = c.failures.Do(ctx, source.Name.Namespace+" artifacts "+host, host, fetchTimeout, func(ctx context.Context) error {
		return c.fetcher.FetchWithContext(ctx, source.Artifact.URL, source.Artifact.Digest, dir)
	})
	if err != nil {
		return nil, failure.Because(v1alpha1.FetchFailedReason, fmt.Errorf("fetching the artifact of source %s: %w", name, err))
	}
	file, err := os.OpenInRoot(dir, archiveFile)
	if err != nil {
		return nil, failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("opening the artifact of source %s: %w", name, err))
	}
	defer file.Close()
	return c.parse(ctx, source, file)
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
