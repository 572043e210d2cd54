// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/memory"
	"github.com/winnow-dev/winnow/controllers/metrics"
	"github.com/winnow-dev/winnow/controllers/transfers"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/test/sourcetest"
)

func sourceAt(server *sourcetest.Server, path string, content []byte) Observed {
	server.Handle(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	return Observed{
		Kind: sourcev1.OCIRepositoryKind, Name: types.NamespacedName{Namespace: "ns", Name: "catalog"},
		Artifact: meta.Artifact{URL: server.URL + path, Digest: sourcetest.Digest(content)},
	}
}

// newCatalogs returns Catalogs with a cache of this many bytes.
func newCatalogs(cache int64) *Catalogs {
	return NewCatalogs(CatalogOptions{
		CacheBytes: cache, Failures: transfers.NewFailures(time.Now), Memory: memory.New(memory.LoadBytes),
	})
}

func TestSimultaneousLoadsShareADownload(t *testing.T) {
	server := sourcetest.NewServer(t)
	content := sourcetest.Applications(t, "argocd")
	source := sourceAt(server, "/c", content)
	const callers = 8
	release := make(chan struct{})
	server.Handle("/c", func(w http.ResponseWriter, _ *http.Request) {
		<-release
		_, _ = w.Write(content)
	})
	catalogs := newCatalogs(1 << 20)
	var waiting sync.WaitGroup
	loaded := make([]*catalog.Catalog, callers)
	for i := range callers {
		waiting.Go(func() { loaded[i], _ = catalogs.load(t.Context(), source) })
	}
	close(release)
	waiting.Wait()
	for _, one := range loaded {
		if one == nil || one != loaded[0] {
			t.Fatal("the callers have different catalogs")
		}
	}
	if n := server.Downloads(); n != 1 {
		t.Errorf("%d downloads, want 1", n)
	}
}

// What two revisions of a source have in common is parsed once, also by the same path of the artifact, but not where
// another source, or another place, has it.
func TestANewRevisionParsesOnlyWhatHasChanged(t *testing.T) {
	server := sourcetest.NewServer(t)
	catalogs := newCatalogs(1 << 20)
	other := sourceAt(server, "/4", sourcetest.Applications(t, "argocd nginx"))
	other.Name.Name = "other"
	elsewhere := sourceAt(server, "/5", sourcetest.Applications(t, "argocd nginx"))
	elsewhere.Place.Format = v1alpha1.FormatApplications
	for _, test := range []struct {
		name   string
		source Observed
		want   int64
	}{
		{"the first revision", sourceAt(server, "/1", sourcetest.Applications(t, "argocd nginx")), 2},
		{"one version more", sourceAt(server, "/2", sourcetest.Applications(t, "argocd nginx::1.0.0,2.0.0")), 1},
		{"back again", sourceAt(server, "/3", sourcetest.Applications(t, "argocd nginx")), 1},
		{"another source", other, 2},
		{"another place", elsewhere, 2},
	} {
		loaded, err := catalogs.load(t.Context(), test.source)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if got := loaded.Parsed(); got != test.want {
			t.Errorf("%s: %d documents are parsed, want %d", test.name, got, test.want)
		}
	}
}

func TestTheCacheOfCatalogsIsBounded(t *testing.T) {
	server := sourcetest.NewServer(t)
	one, two := sourcetest.Applications(t, "argocd"), sourcetest.Applications(t, "nginx1")
	loaded, err := render.LoadArchive(t.Context(), "catalog", bytes.NewReader(one), render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	room := loaded.Size()
	for _, test := range []struct {
		name  string
		bytes int64
		want  int
		// counted are the hits, the misses, those that were in the cache before, and the evictions.
		counted string
	}{
		{"all fit", 2 * room, 2, "2 2 0 0"},
		{"one fits", room, 4, "0 2 2 3"},
		{"none fits", room - 1, 4, "0 2 2 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			measured, err := metrics.New(registry, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			catalogs := NewCatalogs(CatalogOptions{
				CacheBytes: test.bytes, Failures: transfers.NewFailures(time.Now), Memory: memory.New(memory.LoadBytes),
				Metrics: measured.Cache, Traffic: measured.Traffic,
			})
			for range 2 {
				for _, source := range []Observed{sourceAt(server, "/1", one), sourceAt(server, "/2", two)} {
					if _, err := catalogs.load(t.Context(), source); err != nil {
						t.Fatal(err)
					}
				}
			}
			if n := server.Downloads(); n != test.want {
				t.Errorf("%d downloads, want %d", n, test.want)
			}
			if catalogs.size > test.bytes {
				t.Errorf("%d bytes in a cache of %d", catalogs.size, test.bytes)
			}
			const requests = "winnow_catalog_cache_requests_total "
			values := valuesOf(t, registry)
			if got := fmt.Sprint(values[requests+"hit"], values[requests+"miss"], values[requests+"evicted"], values["winnow_catalog_cache_evictions_total"]); got != test.counted {
				t.Errorf("counted %s, want %s", got, test.counted)
			}
			if got := values["winnow_catalog_cache_bytes"]; got != float64(catalogs.size) {
				t.Errorf("the cache is measured with %v bytes, and has %d", got, catalogs.size)
			}
			if got, least := values["winnow_downloaded_bytes_total artifact"], len(one)+len(two); got < float64(least) {
				t.Errorf("%v bytes were downloaded, want at least %d", got, least)
			}
		})
	}
}

// valuesOf returns the counters and gauges of a registry by their names and the values of their labels.
func valuesOf(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			name := family.GetName()
			for _, label := range metric.GetLabel() {
				name += " " + label.GetValue()
			}
			values[name] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	return values
}

// Two loads of one catalog run at a time if the settings of its source differ. Counted twice, its bytes would never be free
// again.
func TestACatalogThatIsLoadedTwiceIsCachedOnce(t *testing.T) {
	loaded, err := render.LoadArchive(t.Context(), "catalog", bytes.NewReader(sourcetest.Applications(t, "argocd")), render.CatalogLocation{})
	if err != nil {
		t.Fatal(err)
	}
	catalogs := newCatalogs(3 * loaded.Size())
	for range 3 {
		catalogs.put("key", loaded)
	}
	if catalogs.size != loaded.Size() {
		t.Errorf("the cache counts %d bytes for one catalog of %d", catalogs.size, loaded.Size())
	}
}

// A digest is no secret: it must not give access to the content of another URL.
func TestTheSameDigestAtAnotherURLIsDownloaded(t *testing.T) {
	server := sourcetest.NewServer(t)
	content := sourcetest.Applications(t, "argocd")
	catalogs := newCatalogs(1 << 20)
	if _, err := catalogs.load(t.Context(), sourceAt(server, "/1", content)); err != nil {
		t.Fatal(err)
	}
	source := sourceAt(server, "/2", content)
	server.Handle("/2", http.NotFound)
	if _, err := catalogs.load(t.Context(), source); failure.ReasonOf(err) != v1alpha1.FetchFailedReason {
		t.Errorf("load() = %v", err)
	}
}

func TestAnEndlessDownloadEndsWithTheContext(t *testing.T) {
	server := sourcetest.NewServer(t)
	source := sourceAt(server, "/c", []byte("x"))
	started := make(chan struct{})
	server.Handle("/c", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("x"))
		_ = http.NewResponseController(w).Flush()
		close(started)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-started
		cancel()
	}()
	_, err := newCatalogs(1<<20).load(ctx, source)
	if failure.ReasonOf(err) != v1alpha1.FetchFailedReason || !errors.Is(err, context.Canceled) {
		t.Errorf("load() = %v", err)
	}
}
