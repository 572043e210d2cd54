// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clientcache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/holders"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// replacing counts the lists of a view.
type replacing struct {
	clientcache.ReflectorStore
	lists *int
}

func (r replacing) Replace(objects []any, version string) error {
	*r.lists++
	return r.ReflectorStore.Replace(objects, version)
}

// requests counts the requests about CatalogSelections that a client sends.
type requests struct {
	mu   sync.Mutex
	sent []string
}

func (q *requests) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if _, of, ok := strings.Cut(r.URL.Path, "/catalogselections"); ok && (r.Method != http.MethodGet || of == "") {
			q.mu.Lock()
			q.sent = append(q.sent, r.Method)
			q.mu.Unlock()
		}
		return next.RoundTrip(r)
	})
}

// take returns what was sent since the last time.
func (q *requests) take() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	sent := q.sent
	q.sent = nil
	return sent
}

// Beside many selections that act on this cluster, WINNOW_COST_SELECTIONS or a thousand, a publication that adds or gives up objects costs one PATCH more than one
// that does not, and none lists selections.
func TestCostOfAPublicationAmongManySelections(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd", "nginx")
	c.selection("alpha", compared, without("nginx"))
	c.consumer("alpha", "alpha", pruning)
	many, err := strconv.Atoi(cmp.Or(os.Getenv("WINNOW_COST_SELECTIONS"), "1000"))
	if err != nil {
		t.Fatal(err)
	}
	c.others(many)

	sent, lists := &requests{}, 0
	config := rest.CopyConfig(restConfig)
	config.Wrap(sent.wrap)
	reads, err := cache.New(config, cache.Options{
		Scheme: apiServer.Scheme(), Mapper: apiServer.RESTMapper(), DefaultNamespaces: map[string]cache.Config{c.namespace: {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = reads.Start(t.Context()) }()
	counted, err := client.NewWithWatch(config, client.Options{
		Scheme: apiServer.Scheme(), Mapper: apiServer.RESTMapper(), Cache: &client.CacheOptions{Reader: reads},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.through = func(store clientcache.ReflectorStore) clientcache.ReflectorStore { return replacing{store, &lists} }
	c.restartWith(func(o *Options) { o.Client = c.traffic.through(counted) })
	c.actAs(restConfig, "")
	go func() { // as the controller does
		for {
			select {
			case <-c.reconciler.enqueued:
			case <-t.Context().Done():
				return
			}
		}
	}()
	c.await("the view of all selections", func() bool { return len(c.claims.All()) == many+1 })
	cached := func() bool {
		for _, object := range []client.Object{&v1alpha1.CatalogSelection{}, &kustomizev1.Kustomization{}} {
			now := object.DeepCopyObject().(client.Object)
			if reads.Get(t.Context(), c.key("alpha"), object) != nil || apiServer.Get(t.Context(), c.key("alpha"), now) != nil ||
				object.GetResourceVersion() != now.GetResourceVersion() {
				return false
			}
		}
		return true
	}

	reconcile := func() {
		for again := true; again; again = c.reconciler.loader.Queue.RunNext(c.context()) {
			if _, err := c.reconciler.Reconcile(c.context(), ctrl.Request{NamespacedName: c.key("alpha")}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, test := range []struct {
		name    string
		change  func()
		patches int
	}{
		{"the first publication, whose Ready follows", func() {}, 3},
		{"nothing", func() {}, 0},
		{"Flux has applied it", c.fluxAlpha, 1},
		{"a publication that adds an object, whose Ready follows", func() { c.change("alpha", without()) }, 3},
		{"Flux has applied that", c.fluxAlpha, 1},
		{"a publication of the same objects", func() { c.catalog("argocd", "nginx", "falco"); c.change("alpha", without("falco")) }, 2},
		{"nothing has changed", func() {}, 0},
	} {
		test.change()
		c.await("the cache", cached)
		c.awaitCaches()
		sent.take()
		start := time.Now()
		reconcile()
		took, got := time.Since(start).Round(time.Millisecond), sent.take()
		t.Logf("%s: %s, %v", test.name, took, got)
		if slices.Contains(got, http.MethodGet) || len(got) != test.patches {
			t.Errorf("%s sends %v, want %d times PATCH", test.name, got, test.patches)
		}
	}
	if lists != 1 {
		t.Errorf("the view was listed %d times", lists)
	}
	c.ready("alpha")
}

// others creates selections that publish an object each, with Kustomizations that apply to this cluster.
func (c *liveCluster) others(n int) {
	c.Helper()
	var group sync.WaitGroup
	failed := make([]error, 16)
	for worker := range failed {
		group.Go(func() {
			for i := worker; i < n && failed[worker] == nil; i += len(failed) {
				failed[worker] = c.other(fmt.Sprintf("other-%d", i))
			}
		})
	}
	group.Wait()
	if err := errors.Join(failed...); err != nil {
		c.Fatal(err)
	}
}

func (c *liveCluster) other(name string) error {
	cs := &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.namespace}}
	cs.Spec.Sources, cs.Spec.Interval = []v1alpha1.SourceReference{{Name: "catalog"}}, metav1.Duration{Duration: time.Hour}
	if err := apiServer.Create(c.Context(), cs); err != nil {
		return err
	}
	published := inventory.Keys{safeguard.KeyOf(c.group, "ApplicationDefinition", "", name): true}
	before := cs.DeepCopy()
	cs.Status.Claim = &v1alpha1.Claim{Generation: cs.Generation, Published: holders.Pack(published)}
	if err := apiServer.Status().Patch(c.Context(), cs, client.MergeFrom(before)); err != nil {
		return err
	}
	ks := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.namespace}}
	ks.Spec.Interval = metav1.Duration{Duration: time.Hour}
	ks.Spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.ExternalArtifactKind, Name: name}
	return apiServer.Create(c.Context(), ks)
}
