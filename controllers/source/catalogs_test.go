// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/memory"
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
	}{
		{"all fit", 2 * room, 2},
		{"one fits", room, 4},
		{"none fits", room - 1, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			catalogs := newCatalogs(test.bytes)
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
		})
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
