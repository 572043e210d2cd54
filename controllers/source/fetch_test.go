// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/memory"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/controllers/transfers"
)

// The remembered failure of a connection keeps the selections of a namespace from waiting in turns. Another namespace,
// or another way to the same host, is tried all the same.
func TestAConnectionThatHangsIsRemembered(t *testing.T) {
	var requests atomic.Int32
	var passed atomic.Int64
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		passed.Add(int64(10 * time.Second))
		<-r.Context().Done()
	}))
	defer hanging.Close()
	repository := &sourcev1.OCIRepository{}
	repository.Namespace = "ns"
	repository.Spec.URL = "oci://" + strings.TrimPrefix(hanging.URL, "http://") + "/catalog"
	repository.Spec.Insecure = true
	repository.Spec.Timeout = &metav1.Duration{Duration: 200 * time.Millisecond}
	source := Observed{
		Kind: sourcev1.OCIRepositoryKind, Name: types.NamespacedName{Namespace: "ns", Name: "catalog"}, repository: repository,
	}
	source.Artifact.Revision = "latest@sha256:" + strings.Repeat("0", 64)
	catalogs := NewCatalogs(CatalogOptions{
		CacheBytes: 1 << 20, Registries: registries.New(nil, 0), Memory: memory.New(memory.LoadBytes),
		Failures: transfers.NewFailures(func() time.Time { return time.Unix(1_700_000_000, passed.Load()) }),
	})
	tried := func() bool {
		t.Helper()
		requests.Store(0)
		_, err := catalogs.locationOf(t.Context(), source)
		if failure.ReasonOf(err) != v1alpha1.FetchFailedReason || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("locationOf() = %v", err)
		}
		return requests.Load() > 0
	}
	for _, step := range []struct {
		name string
		do   func()
		want bool
	}{
		{"the first", func() {}, true},
		{"the next", func() {}, false},
		{"another repository of the host", func() { repository.Spec.URL += "-2" }, false},
		{"after the backoff", func() { passed.Add(int64(time.Minute)) }, true},
		{"another edit", func() { repository.Generation++ }, false},
		{"another provider", func() { repository.Spec.Provider = "generic" }, true},
		{"another namespace", func() { repository.Namespace, repository.Spec.Provider = "other", "" }, true},
	} {
		step.do()
		if got := tried(); got != step.want {
			t.Errorf("%s: requests were sent: %t, want %t", step.name, got, step.want)
		}
	}
}
