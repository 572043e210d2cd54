// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/winnow-dev/winnow/test/stack"
)

// usage is what all controllers have used since their start.
type usage struct {
	at time.Time
	// requests to the API server, without watches that run, and those of them that write: of all kinds, and of the status of
	// CatalogSelections and of ExternalArtifacts.
	requests, writes             float64
	statusWrites, artifactWrites float64
	reconciles                   float64
	// downloads of catalogs, and the bytes that were downloaded for them.
	downloads, downloaded float64
	cpu                   time.Duration
	// server is the processor time of the API server.
	server time.Duration
}

// memory is the resident memory of all controllers in bytes: now, and at most since it was read before.
type memory struct{ resident, peak int64 }

// used reads the metrics of the controllers and of the API server.
func (s *system) used(ctx context.Context) (usage, error) {
	u := usage{at: time.Now()}
	for _, c := range s.controllers {
		m, err := scrape(ctx, "http://"+c.MetricsAddr+"/metrics")
		if err != nil {
			return u, err
		}
		u.requests += m.sum("rest_client_requests_total")
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			u.writes += m.sum("rest_client_requests_total", `method="`+method+`"`)
		}
		u.reconciles += m.sum("controller_runtime_reconcile_total", `controller="catalogselection"`)
		for _, result := range []string{"miss", "evicted"} {
			u.downloads += m.sum("winnow_catalog_cache_requests_total", `result="`+result+`"`)
		}
		u.downloaded += m.sum("winnow_downloaded_bytes_total")
		u.cpu += processorTime(m)
	}
	clients, err := kubernetes.NewForConfig(s.RESTConfig())
	if err != nil {
		return u, err
	}
	text, err := clients.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return u, fmt.Errorf("reading the metrics of the API server: %w", err)
	}
	m := metrics(text)
	u.server = processorTime(m)
	u.statusWrites = m.sum("apiserver_request_total", `resource="catalogselections"`, `subresource="status"`, `verb="PATCH"`)
	for _, verb := range []string{"POST", "PATCH"} {
		u.artifactWrites += m.sum("apiserver_request_total", `resource="externalartifacts"`, `verb="`+verb+`"`)
	}
	return u, nil
}

// metrics is a text in the format of Prometheus.
type metrics []byte

func scrape(ctx context.Context, url string) (metrics, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("reading %s: %s", url, response.Status), err)
	}
	return body, nil
}

// processorTime returns what a process has used since its start.
func processorTime(m metrics) time.Duration {
	return time.Duration(m.sum("process_cpu_seconds_total") * float64(time.Second))
}

// sum adds up the series of a metric that have all labels, each as label="value".
func (m metrics) sum(name string, labels ...string) float64 {
	var sum float64
	lines := bufio.NewScanner(bytes.NewReader(m))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		series, value, _ := strings.Cut(lines.Text(), " ")
		found, pairs, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
		if found != name || !hasAll(pairs, labels) {
			continue
		}
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			sum += number
		}
	}
	return sum
}

func hasAll(pairs string, labels []string) bool {
	for _, label := range labels {
		if !strings.Contains(","+pairs+",", ","+label+",") {
			return false
		}
	}
	return true
}

// memory reads the memory of the controllers from /proc, and lets the next peak begin.
func (s *system) memory() (memory, error) {
	var sum memory
	for _, c := range s.controllers {
		proc := filepath.Join("/proc", strconv.Itoa(c.PID()))
		status, err := os.ReadFile(filepath.Join(proc, "status"))
		if err != nil {
			return sum, fmt.Errorf("reading the memory of %s, which needs Linux: %w", c.Name(), err)
		}
		sum.resident += kilobytes(status, "VmRSS:")
		sum.peak += kilobytes(status, "VmHWM:")
		if err := os.WriteFile(filepath.Join(proc, "clear_refs"), []byte("5"), 0o200); err != nil {
			return sum, fmt.Errorf("resetting the peak of the memory of %s: %w", c.Name(), err)
		}
	}
	return sum, nil
}

// kilobytes returns a field of /proc/PID/status in bytes.
func kilobytes(status []byte, field string) int64 {
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, field); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}

// saveProfile writes the profile of the heap of the first controller after a garbage collection.
func (s *system) saveProfile(ctx context.Context, name string) error {
	if s.profile == "" {
		return nil
	}
	return save(ctx, s.controllers[0], "heap?gc=1", filepath.Join(s.profile, name+".heap.pb.gz"))
}

// sample samples the processor time of the first controller, in a profile for each ten seconds, until the function that it
// returns is called.
func (s *system) sample(ctx context.Context, name string) (end func() error) {
	if s.profile == "" {
		return func() error { return nil }
	}
	ended, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-ended:
				done <- nil
				return
			default:
			}
			if err := save(ctx, s.controllers[0], "profile?seconds=10", filepath.Join(s.profile, fmt.Sprintf("%s.%03d.cpu.pb.gz", name, i))); err != nil {
				done <- err
				return
			}
		}
	}()
	return func() error {
		close(ended)
		return <-done
	}
}

func save(ctx context.Context, c *stack.Controller, profile, file string) error {
	content, err := scrape(ctx, "http://"+c.MetricsAddr+"/debug/pprof/"+profile)
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o600)
}
