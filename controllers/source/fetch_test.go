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
	"github.com/winnow-dev/winnow/controllers/registries"
)

// The cached error of a registry that hangs keeps the selections of a source from blocking workers in turns.
func TestErrorsOfSlowRegistriesAreCached(t *testing.T) {
	var requests atomic.Int32
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		<-r.Context().Done()
	}))
	defer hanging.Close()
	repository := &sourcev1.OCIRepository{}
	repository.Spec.URL = "oci://" + strings.TrimPrefix(hanging.URL, "http://") + "/catalog"
	repository.Spec.Insecure = true
	repository.Spec.Timeout = &metav1.Duration{Duration: slow + 100*time.Millisecond}
	source := Observed{
		Kind: sourcev1.OCIRepositoryKind, Name: types.NamespacedName{Namespace: "ns", Name: "catalog"}, repository: repository,
	}
	source.Artifact.Revision = "latest@sha256:" + strings.Repeat("0", 64)
	catalogs := NewCatalogs(1<<20, 0, "", registries.New(nil, 0))
	locate := func() error {
		_, err := catalogs.locationOf(t.Context(), source)
		return err
	}

	if err := locate(); failure.ReasonOf(err) != v1alpha1.FetchFailedReason || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("locationOf() = %v", err)
	}
	keys := catalogs.failedFetches.Keys()
	if len(keys) != 1 {
		t.Fatalf("failed fetches of %q", keys)
	}
	last, _ := catalogs.failedFetches.Get(keys[0])
	if wait := time.Until(last.until); wait > time.Minute {
		t.Errorf("the error is cached for %s", wait)
	}
	last.until = time.Now().Add(time.Hour) // the test may be slow
	catalogs.failedFetches.Add(keys[0], last)
	requests.Store(0)
	if err := locate(); failure.ReasonOf(err) != v1alpha1.FetchFailedReason || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("locationOf() = %v", err)
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests while the error is cached", n)
	}

	// The expiry of the cached error and an edit of the OCIRepository each allow another request. The edit comes last: its
	// failure is cached under another key.
	for _, event := range []struct {
		name string
		do   func()
	}{
		{"the expiry", func() {
			last.until = time.Now()
			catalogs.failedFetches.Add(keys[0], last)
		}},
		{"an edit", func() { repository.Generation++ }},
	} {
		requests.Store(0)
		event.do()
		if _ = locate(); requests.Load() == 0 {
			t.Errorf("no request after %s", event.name)
		}
	}
}
