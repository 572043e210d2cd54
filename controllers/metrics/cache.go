// SPDX-License-Identifier: Apache-2.0

package metrics

import "github.com/prometheus/client_golang/prometheus"

// Cache measures the cache of catalogs.
type Cache struct {
	collectors

	hits, misses, evicted, evictions prometheus.Counter
	bytes, limit                     prometheus.Gauge
}

func newCache() *Cache {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "winnow_catalog_cache_requests_total",
		Help: "Catalogs that a render needed: hit is one in memory, miss one that was downloaded, and evicted one that was downloaded again because the cache had no room for it.",
	}, []string{"result"})
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	c := &Cache{
		hits: requests.WithLabelValues("hit"), misses: requests.WithLabelValues("miss"), evicted: requests.WithLabelValues("evicted"),
		evictions: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "winnow_catalog_cache_evictions_total", Help: "Catalogs that were removed from the cache to make room for others.",
		}),
		bytes: gauge("winnow_catalog_cache_bytes", "The memory that cached catalogs take."),
		limit: gauge("winnow_catalog_cache_limit_bytes", "The most memory that cached catalogs may take."),
	}
	c.collectors = collectors{requests, c.evictions, c.bytes, c.limit}
	return c
}

// Limit sets the most bytes that the cache may take.
func (c *Cache) Limit(bytes int64) {
	if c != nil {
		c.limit.Set(float64(bytes))
	}
}

// Size sets the bytes that the cache takes.
func (c *Cache) Size(bytes int64) {
	if c != nil {
		c.bytes.Set(float64(bytes))
	}
}

// Hit counts catalogs that were in the cache.
func (c *Cache) Hit(catalogs int) {
	if c != nil {
		c.hits.Add(float64(catalogs))
	}
}

// Miss counts a catalog that was not in the cache, and whether an earlier load of it was, or had no room there.
func (c *Cache) Miss(again bool) {
	switch {
	case c == nil:
	case again:
		c.evicted.Inc()
	default:
		c.misses.Inc()
	}
}

// Evict counts a catalog that makes room for another one.
func (c *Cache) Evict() {
	if c != nil {
		c.evictions.Inc()
	}
}
