// SPDX-License-Identifier: Apache-2.0

package fleetmodel

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render/contract"
)

// Repositories of the registry.
const (
	catalogRepository = "catalogs/model"
	foreignRepository = "foreign/model"
)

// store is a registry that can be down, and whose manifests can go.
type store struct {
	host string
	down bool
	gone map[string]bool
	// packed has the pushed artifacts by their digests.
	packed map[string]registry.Artifact
}

func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{gone: map[string]bool{}, packed: map[string]registry.Artifact{}}
	inner := ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, reference, _ := strings.Cut(r.URL.Path, "/manifests/")
		switch {
		case s.down:
			panic(http.ErrAbortHandler)
		case s.gone[reference] && r.Method != http.MethodPut:
			w.WriteHeader(http.StatusNotFound)
		default:
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	s.host = strings.TrimPrefix(server.URL, "http://")
	return s
}

// push pushes an archive of a type under a tag, and returns the digest. What was gone is there again.
func (s *store) push(ctx context.Context, name, tag, artifactType string, archive []byte) (string, error) {
	layer := registry.NewBlob(v1.MediaTypeImageLayerGzip, archive)
	if artifactType == contract.ArtifactType {
		layer.Descriptor.Annotations = map[string]string{v1.AnnotationTitle: "applications"}
	}
	artifact, err := registry.Pack(artifactType, layer, nil)
	if err != nil {
		return "", err
	}
	to, err := s.repository(name)
	if err != nil {
		return "", err
	}
	digest := artifact.Manifest.Descriptor.Digest.String()
	delete(s.gone, digest)
	s.packed[digest] = artifact
	return digest, registry.Pusher{}.Push(ctx, to, artifact, []string{tag})
}

func (s *store) repository(name string) (*remote.Repository, error) {
	to, err := remote.NewRepository(s.host + "/" + name)
	if err == nil {
		to.PlainHTTP = true
		to.Client = &http.Client{} // a registry that is down is not tried again
	}
	return to, err
}

func (s *store) pushCatalog(ctx context.Context, archive []byte) (string, error) {
	return s.push(ctx, catalogRepository, "stable", contract.ArtifactType, archive)
}

func (s *store) pushRendered(ctx context.Context, fleet string, archive []byte) (string, error) {
	return s.push(ctx, "rendered/"+fleet, "latest", v1alpha1.RenderedArtifactType, archive)
}

// pull returns the layer of an artifact, as source-controller does.
func (s *store) pull(ctx context.Context, name, digest string) ([]byte, error) {
	from, err := s.repository(name)
	if err != nil {
		return nil, err
	}
	_, manifest, err := from.Manifests().FetchReference(ctx, digest)
	if err != nil {
		return nil, err
	}
	if err := manifest.Close(); err != nil {
		return nil, err
	}
	return registry.FetchLayer(ctx, from, s.packed[digest].Layer.Descriptor, 1<<20)
}

// has reports whether an artifact can be pulled.
func (s *store) has(digest string) bool {
	_, known := s.packed[digest]
	return known && !s.down && !s.gone[digest]
}
