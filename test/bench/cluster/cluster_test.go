// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/render"
)

func TestSumsOfMetrics(t *testing.T) {
	text := metrics(`# HELP requests_total Requests.
requests_total{code="200",method="GET"} 3
requests_total{code="200",method="PATCH"} 4
requests_total{code="409",method="PATCH"} 1
requests_total_created{method="PATCH"} 100
plain 1.5e+06
`)
	for _, test := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"requests_total", nil, 8},
		{"requests_total", []string{`method="PATCH"`}, 5},
		{"requests_total", []string{`method="PATCH"`, `code="409"`}, 1},
		{"requests_total", []string{`method="PUT"`}, 0},
		{"plain", nil, 1.5e6},
		{"absent", nil, 0},
	} {
		if got := text.sum(test.name, test.labels...); got != test.want {
			t.Errorf("sum(%s, %v) = %v, want %v", test.name, test.labels, got, test.want)
		}
	}
}

func TestPercentiles(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1))
	}
	for _, test := range []struct {
		name   string
		sorted []time.Duration
		want   [3]time.Duration // p50, p99, p100
	}{
		{"none", nil, [3]time.Duration{}},
		{"one", hundred[:1], [3]time.Duration{1, 1, 1}},
		{"three", hundred[:3], [3]time.Duration{2, 3, 3}},
		{"a hundred", hundred, [3]time.Duration{50, 99, 100}},
	} {
		got := [3]time.Duration{percentile(test.sorted, 50), percentile(test.sorted, 99), percentile(test.sorted, 100)}
		if got != test.want {
			t.Errorf("percentiles of %s are %v, want %v", test.name, got, test.want)
		}
	}
}

// Only what has the expected catalog counts, and only the first time.
func TestSightings(t *testing.T) {
	s := &sightings{}
	s.see(&sourcev1.OCIRepository{Status: sourcev1.OCIRepositoryStatus{Artifact: &meta.Artifact{Revision: "v1@sha256:1"}}})
	s.expect("sha256:2")
	artifact, applied := &sourcev1.ExternalArtifact{}, &kustomizev1.Kustomization{}
	artifact.Name, applied.Name = "one", "one"
	for _, revision := range []string{"v1@sha256:1", "v2@sha256:2", "v2@sha256:2"} {
		s.see(&sourcev1.OCIRepository{Status: sourcev1.OCIRepositoryStatus{Artifact: &meta.Artifact{Revision: revision}}})
		artifact.Status.Artifact = &meta.Artifact{Metadata: map[string]string{originKey: revision}}
		s.see(artifact)
		applied.Status.LastAppliedOriginRevision = revision
		s.see(applied)
	}
	first := s.ready
	publish, apply := s.delays()
	if first.IsZero() || len(publish) != 1 || publish[0] < 0 || len(apply) != 1 || apply[0] < 0 {
		t.Errorf("ready at %s, published after %v, applied after %v", first, publish, apply)
	}
	s.expect("sha256:3")
	if published, applied := s.counts(); published != 0 || applied != 0 || !s.ready.IsZero() {
		t.Errorf("%d and %d are left", published, applied)
	}
}

func TestACatalogIsValidAndReproducible(t *testing.T) {
	read := func(release int) [][]byte {
		dir := t.TempDir()
		if err := writeCatalog(dir, changedEvery+1, release); err != nil {
			t.Fatal(err)
		}
		if _, err := render.LoadFS(t.Context(), "catalog", os.DirFS(dir), render.CatalogLocation{}); err != nil {
			t.Errorf("release %d is invalid: %v", release, err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "applications", "*", "application.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		contents := make([][]byte, len(files))
		for i, file := range files {
			if contents[i], err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
		return contents
	}
	first, second := read(1), read(2)
	if !slices.EqualFunc(first, read(1), slices.Equal[[]byte]) {
		t.Error("the same release has another content")
	}
	changed := 0
	for i := range first {
		if !slices.Equal(first[i], second[i]) {
			changed++
		}
		if size := len(first[i]); size < 6<<10 || size > 8<<10 {
			t.Errorf("application %d has %d bytes", i, size)
		}
	}
	if changed != 2 {
		t.Errorf("%d applications change, want those at 0 and %d", changed, changedEvery)
	}
}
