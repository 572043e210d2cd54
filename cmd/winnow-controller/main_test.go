// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Flux would get half of an artifact if the process ended while it downloads one.
func TestADownloadEndsBeforeTheProcess(t *testing.T) {
	const size = 64 << 20 // more than the buffers of a connection
	o := &options{}
	o.artifact.StoragePath, o.artifact.StorageAddress = t.TempDir(), freeAddress(t)
	if err := os.WriteFile(filepath.Join(o.artifact.StoragePath, "artifact"), make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	mgr, err := ctrl.NewManager(&rest.Config{Host: "https://127.0.0.1:1"}, ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- start(ctx, mgr, o, nobody) }()
	download := get(t, "http://"+o.artifact.StorageAddress+"/artifact", ended)
	defer download.Close()

	stop()
	select {
	case err := <-ended:
		t.Fatalf("start() = %v during a download", err)
	case <-time.After(time.Second):
	}
	if got, err := io.Copy(io.Discard, download); err != nil || got != size {
		t.Errorf("downloaded %d bytes: %v", got, err)
	}
	if err := <-ended; err != nil {
		t.Errorf("start() = %v", err)
	}
}

// The worker that reports a publication waits for it.
func TestAnEventThatNothingReceivesTakesSeconds(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	mgr, err := ctrl.NewManager(&rest.Config{Host: "https://127.0.0.1:1"}, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0"})
	if err != nil {
		t.Fatal(err)
	}
	recorder, err := newRecorder(mgr, "http://"+freeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	selection := &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "gold"}}
	started := time.Now()
	recorder.Event(selection, corev1.EventTypeNormal, "Published", "a revision")
	if took := time.Since(started); took > 10*time.Second {
		t.Errorf("an event takes %s", took)
	}
}

// nobody is the leader.
func nobody() string { return "" }

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// get begins a download once the server listens.
func get(t *testing.T, url string, ended <-chan error) io.ReadCloser {
	t.Helper()
	for {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil && response.StatusCode == http.StatusOK {
			return response.Body
		}
		select {
		case err := <-ended:
			t.Fatalf("start() = %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestAServerThatCannotListenEndsTheProcess(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	o := &options{}
	o.artifact.StoragePath, o.artifact.StorageAddress = t.TempDir(), taken.Addr().String()
	mgr, err := ctrl.NewManager(&rest.Config{Host: "https://127.0.0.1:1"}, ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := start(t.Context(), mgr, o, nobody); err == nil {
		t.Error("start() = nil")
	}
}
