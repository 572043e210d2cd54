// SPDX-License-Identifier: Apache-2.0

// Package sourcetest creates catalogs for tests and serves them over HTTP, as source-controller does. It must not
// know the packages that read them.
package sourcetest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/opencontainers/go-digest"

	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
)

// Archive packs files, given as alternating paths and contents.
func Archive(t *testing.T, files ...string) []byte {
	t.Helper()
	content := tree.New()
	for pair := range slices.Chunk(files, 2) {
		if err := content.Add(pair[0], []byte(pair[1])); err != nil {
			t.Fatal(err)
		}
	}
	var packed bytes.Buffer
	if err := archive.Write(&packed, content); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// Applications packs a catalog of "name:tier:version,version" words.
func Applications(t *testing.T, words string) []byte {
	t.Helper()
	var files []string
	for word := range strings.FieldsSeq(words) {
		part := strings.Split(word+"::", ":")
		dir := "applications/" + part[0]
		files = append(files, dir+"/application.yaml", Definition(part[0], part[2]))
		if part[1] != "" {
			files = append(files, dir+"/metadata.yaml", "tier: "+part[1]+"\n")
		}
	}
	return Archive(t, files...)
}

// Definition returns an ApplicationDefinition with a name and versions, separated by commas. The default version is
// 1.0.0.
func Definition(name, versions string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: %s\nspec:\n  versions:\n", name)
	for version := range strings.SplitSeq(versions, ",") {
		if version == "" {
			version = "1.0.0"
		}
		fmt.Fprintf(&b, "  - version: %q\n", version)
	}
	return b.String()
}

// Gzip compresses content.
func Gzip(t *testing.T, content []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	compressor := gzip.NewWriter(&packed)
	if _, err := compressor.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := compressor.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// Digest returns the digest of content in the format of sources and manifests.
func Digest(content []byte) string { return digest.FromBytes(content).String() }

// Server serves artifacts, and counts the requests.
type Server struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string]http.HandlerFunc
	hits  int
}

// NewServer returns a server without artifacts that ends with the test.
func NewServer(t *testing.T) *Server {
	t.Helper()
	s := &Server{files: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.hits++
	serve, ok := s.files[r.URL.Path]
	s.mu.Unlock()
	if !ok {
		serve = http.NotFound
	}
	serve(w, r)
}

// Downloads returns the number of requests since the last call.
func (s *Server) Downloads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	hits := s.hits
	s.hits = 0
	return hits
}

// Handle sets the handler of a path.
func (s *Server) Handle(path string, serve http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[path] = serve
}
