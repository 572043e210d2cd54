package controllers

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
)

func sourceAt(server *sourceServer, path string, content []byte) observedSource {
	server.handle(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	return observedSource{
		kind: sourcev1.OCIRepositoryKind, name: types.NamespacedName{Namespace: "ns", Name: "catalog"},
		artifact: meta.Artifact{URL: server.URL + path, Digest: digestOf(content)},
	}
}

func TestSimultaneousLoadsShareADownload(t *testing.T) {
	server := newSourceServer(t)
	content := applications(t, "argocd")
	source := sourceAt(server, "/c", content)
	const callers = 8
	release := make(chan struct{})
	server.handle("/c", func(w http.ResponseWriter, _ *http.Request) {
		<-release
		_, _ = w.Write(content)
	})
	catalogs := NewCatalogs(1<<20, 0, "", nil)
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
	if n := server.downloads(); n != 1 {
		t.Errorf("%d downloads, want 1", n)
	}
}

func TestWhatDoesNotFitTheCacheIsDownloadedAgain(t *testing.T) {
	server := newSourceServer(t)
	one, two := applications(t, "argocd"), applications(t, "nginx1")
	loaded, err := render.LoadArchive(t.Context(), "catalog", bytes.NewReader(one), "")
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
			catalogs := NewCatalogs(test.bytes, 0, "", nil)
			for range 2 {
				for _, source := range []observedSource{sourceAt(server, "/1", one), sourceAt(server, "/2", two)} {
					if _, err := catalogs.load(t.Context(), source); err != nil {
						t.Fatal(err)
					}
				}
			}
			if n := server.downloads(); n != test.want {
				t.Errorf("%d downloads, want %d", n, test.want)
			}
			if catalogs.size > test.bytes {
				t.Errorf("%d bytes in a cache of %d", catalogs.size, test.bytes)
			}
		})
	}
}

// A digest is no secret: it must not open what only another URL serves.
func TestTheSameDigestAtAnotherURLIsDownloaded(t *testing.T) {
	server := newSourceServer(t)
	content := applications(t, "argocd")
	catalogs := NewCatalogs(1<<20, 0, "", nil)
	if _, err := catalogs.load(t.Context(), sourceAt(server, "/1", content)); err != nil {
		t.Fatal(err)
	}
	source := sourceAt(server, "/2", content)
	server.handle("/2", http.NotFound)
	if _, err := catalogs.load(t.Context(), source); reasonOf(err) != v1alpha1.FetchFailedReason {
		t.Errorf("load() = %v", err)
	}
}

func TestAnEndlessDownloadEndsWithTheContext(t *testing.T) {
	server := newSourceServer(t)
	source := sourceAt(server, "/c", []byte("x"))
	started := make(chan struct{})
	server.handle("/c", func(w http.ResponseWriter, r *http.Request) {
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
	_, err := NewCatalogs(1<<20, 0, "", nil).load(ctx, source)
	if reasonOf(err) != v1alpha1.FetchFailedReason || !errors.Is(err, context.Canceled) {
		t.Errorf("load() = %v", err)
	}
}

func TestStoppingTheControllerSaysNothingAboutASelection(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	e.publish("kkp")
	artifact := e.source(applications(t, "argocd nginx"))
	before := e.get("kkp")
	ctx, cancel := context.WithCancel(t.Context())
	e.sources.handle("/"+artifact.Path, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if _, err := e.reconciler.Reconcile(ctx, requestFor(before)); !errors.Is(err, context.Canceled) {
		t.Errorf("Reconcile() = %v", err)
	}
	e.equal("the selection", e.get("kkp"), before)
}
