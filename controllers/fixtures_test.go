// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/test/sourcetest"
)

func catalogArchive(t *testing.T, files ...string) []byte { return sourcetest.Archive(t, files...) }

func applications(t *testing.T, words string) []byte { return sourcetest.Applications(t, words) }

func definition(name, versions string) string { return sourcetest.Definition(name, versions) }

func digestOf(content []byte) string { return sourcetest.Digest(content) }

// hostileArchive packs a single entry unchanged.
func hostileArchive(t *testing.T, header *tar.Header) []byte {
	t.Helper()
	var packed bytes.Buffer
	compressor := gzip.NewWriter(&packed)
	out := tar.NewWriter(compressor)
	if err := out.WriteHeader(header); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressor.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// source sets the content as the artifact of the OCIRepository "catalog".
func (e *environment) source(content []byte) *meta.Artifact {
	e.Helper()
	return e.sourceOf(sourcev1.OCIRepositoryKind, e.key("catalog"), content)
}

// sourceOf does the same for any kind; it derives the revision and the URL from the content.
func (e *environment) sourceOf(kind string, key client.ObjectKey, content []byte) *meta.Artifact {
	e.Helper()
	sum := digestOf(content)
	path := fmt.Sprintf("/%s/%s/%s.tar.gz", strings.ToLower(kind), key, strings.TrimPrefix(sum, "sha256:"))
	e.sources.Handle(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	artifact := &meta.Artifact{
		Path: path[1:], URL: e.sources.URL + path, Revision: "v1@" + sum, Digest: sum,
		LastUpdateTime: metav1.NewTime(time.Unix(1_700_000_000, 0)),
	}
	e.setArtifact(kind, key, artifact)
	return artifact
}

// setArtifact sets the artifact of a source, or removes it, and creates the source if it is missing.
func (e *environment) setArtifact(kind string, key client.ObjectKey, artifact *meta.Artifact) {
	e.Helper()
	source := newSource(kind, key)
	err := apiServer.Get(e.Context(), key, source)
	if apierrors.IsNotFound(err) {
		err = apiServer.Create(e.Context(), source)
	}
	if err != nil {
		e.Fatal(err)
	}
	switch typed := source.(type) {
	case *sourcev1.OCIRepository:
		typed.Status.Artifact, typed.Status.ObservedGeneration = artifact, typed.Generation
	case *sourcev1.GitRepository:
		typed.Status.Artifact, typed.Status.ObservedGeneration = artifact, typed.Generation
	case *sourcev1.Bucket:
		typed.Status.Artifact, typed.Status.ObservedGeneration = artifact, typed.Generation
	case *sourcev1.ExternalArtifact:
		typed.Status.Artifact = artifact
	}
	if err := apiServer.Status().Update(e.Context(), source); err != nil {
		e.Fatal(err)
	}
}

func newSource(kind string, key client.ObjectKey) client.Object {
	source := source.Kinds()[kind]
	source.SetName(key.Name)
	source.SetNamespace(key.Namespace)
	interval := metav1.Duration{Duration: time.Minute}
	switch typed := source.(type) {
	case *sourcev1.OCIRepository:
		typed.Spec.URL, typed.Spec.Interval = "oci://registry.example/catalog", interval
	case *sourcev1.GitRepository:
		typed.Spec.URL, typed.Spec.Interval = "https://git.example/catalog", interval
	case *sourcev1.Bucket:
		typed.Spec.Endpoint, typed.Spec.BucketName, typed.Spec.Interval = "s3.example", "catalog", interval
	}
	return source
}

// conditionsOf lists the conditions but Applied, Unmatched and Kept as "<type>=<status> <reason>", sorted, without those for the
// good case. conditions_test.go tests them.
func conditionsOf(cs *v1alpha1.CatalogSelection) []string {
	var lines []string
	for _, c := range cs.Status.Conditions {
		switch c.Type {
		case v1alpha1.AppliedCondition, v1alpha1.UnmatchedCondition, v1alpha1.KeptCondition: // kept_test.go and unmatched_test.go have tests of the last ones
			continue
		}
		line := fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason)
		if line == "Held=False NothingHeld" || c.Type == v1alpha1.SourceReadyCondition {
			continue
		}
		if c.ObservedGeneration != cs.Generation {
			line += fmt.Sprintf(" of generation %d, not %d", c.ObservedGeneration, cs.Generation)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

func toYAML(t *testing.T, value any) string {
	t.Helper()
	text, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// get returns the body of a URL, nil for a 404.
func get(t *testing.T, url string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNotFound {
		return nil
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v", url, response.Status, err)
	}
	return body
}
