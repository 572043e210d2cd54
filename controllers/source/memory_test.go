// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/memory"
	"github.com/winnow-dev/winnow/test/sourcetest"
)

// loadAtOnce loads the archives concurrently, and returns the maximum growth of the memory in use that it
// samples.
func loadAtOnce(t *testing.T, catalogs *Catalogs, sources []Observed) int64 {
	t.Helper()
	var stats runtime.MemStats
	heap := func() int64 {
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before := heap()
	most, done := before, make(chan struct{})
	var loading sync.WaitGroup
	for _, source := range sources {
		loading.Go(func() {
			if _, err := catalogs.load(t.Context(), source); err != nil {
				t.Error(err)
			}
		})
	}
	go func() {
		loading.Wait()
		close(done)
	}()
	for {
		select {
		case <-done:
			return most - before
		case <-time.After(10 * time.Millisecond):
			most = max(most, heap())
		}
	}
}

func TestCostOfSimultaneousLoads(t *testing.T) {
	useless := []string{"applications/a/application.yaml", sourcetest.Definition("a", "")}
	for i := range 5 {
		useless = append(useless, fmt.Sprintf("images/%d.png", i), strings.Repeat("x", 8<<20))
	}
	// A node takes 85 bytes, so that each core works on 85 MiB.
	nodes := sourcetest.Definition("a", "") + "x:\n" + strings.Repeat("- - - - - - - - - -\n", 50_000)
	const slack = 96 << 20 // uncollected garbage
	for _, test := range []struct {
		name    string
		archive []byte
		want    int64
	}{
		{"files that no catalog needs are dropped", sourcetest.Archive(t, useless...), slack},
		{"parsing waits for memory", sourcetest.Archive(t, "applications/a/application.yaml", nodes), memory.LoadBytes + slack},
	} {
		t.Run(test.name, func(t *testing.T) {
			server, catalogs := sourcetest.NewServer(t), newCatalogs(0)
			var sources []Observed
			for i := range 8 {
				sources = append(sources, sourceAt(server, fmt.Sprintf("/%d", i), test.archive))
			}
			if took := loadAtOnce(t, catalogs, sources); took > test.want {
				t.Errorf("eight loads take %d MiB, want at most %d", took>>20, test.want>>20)
			}
		})
	}
}

func TestWaitingForMemoryEndsWithTheContext(t *testing.T) {
	server, catalogs := sourcetest.NewServer(t), newCatalogs(1<<20)
	source := sourceAt(server, "/c", sourcetest.Applications(t, "argocd"))
	release, err := catalogs.memory.Acquire(t.Context(), memory.LoadBytes)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	content := sourcetest.Applications(t, "argocd")
	server.Handle("/c", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(content)
		time.AfterFunc(50*time.Millisecond, cancel)
	})
	if _, err := catalogs.load(ctx, source); !errors.Is(err, context.Canceled) || failure.ReasonOf(err) != v1alpha1.FetchFailedReason {
		t.Errorf("load() = %v", err)
	}
	release()
	if _, err := catalogs.load(t.Context(), source); err != nil {
		t.Errorf("load() = %v, once memory is available", err)
	}
	if _, err := catalogs.memory.Acquire(t.Context(), memory.LoadBytes); err != nil {
		t.Errorf("the memory is not released: %v", err)
	}
}

func TestLoadsAndTheCacheFitIntoTheContainer(t *testing.T) {
	raw, err := os.ReadFile("../../config/manager/deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var deployment appsv1.Deployment
	if err := yaml.UnmarshalStrict(raw, &deployment); err != nil {
		t.Fatal(err)
	}
	const cacheBytes = 256 << 20 // the default of --catalog-cache-bytes
	limit := deployment.Spec.Template.Spec.Containers[0].Resources.Limits.Memory().Value()
	if all := int64(memory.LoadBytes + memory.SendBytes + cacheBytes); all > limit*3/4 {
		t.Errorf("loads and the cache may take %d bytes, more than three quarters of the limit of %d", all, limit)
	}
}
