// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/registry/remote"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/test/stack"
)

// front is a proxy of a real registry that counts requests and simulates failures, which a real registry does
// not have on demand.
type front struct {
	*httptest.Server
	mu sync.Mutex
	// misbehave handles a request, if it returns true.
	misbehave func(http.ResponseWriter, *http.Request) bool
	requests  []string
}

func newFront(t *testing.T) *front {
	t.Helper()
	target, err := url.Parse("http://" + registryHost)
	if err != nil {
		t.Fatal(err)
	}
	real := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		// The registry derives the addresses for its clients from these.
		r.Out.Host = r.In.Host
		if r.In.TLS != nil {
			r.Out.Header.Set("X-Forwarded-Proto", "https")
		}
	}}
	f := &front{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		f.mu.Lock()
		f.requests = append(f.requests, req.Method+" "+req.URL.Path)
		misbehave := f.misbehave
		f.mu.Unlock()
		if misbehave == nil || !misbehave(w, req) {
			real.ServeHTTP(w, req)
		}
	}))
	t.Cleanup(f.CloseClientConnections)
	t.Cleanup(f.Close)
	return f
}

func (f *front) host() string { return strings.TrimPrefix(f.URL, "http://") }

// does sets the handler that simulates failures; nil for none.
func (f *front) does(misbehave func(http.ResponseWriter, *http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.misbehave = misbehave
}

// taken returns the requests since the last call, without the version checks.
func (f *front) taken() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var taken []string
	for _, request := range f.requests {
		if request != "GET /v2/" {
			taken = append(taken, request)
		}
	}
	f.requests = nil
	return taken
}

// status responds to every request with a status.
func status(code int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(code)
		return true
	}
}

// at restricts misbehave to paths with the part.
func at(part string, misbehave func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		return strings.Contains(r.URL.Path, part) && misbehave(w, r)
	}
}

// repositoryAt returns a repository for the test in a registry on loopback.
func (e *environment) repositoryAt(host string) *remote.Repository {
	e.Helper()
	repository, err := remote.NewRepository(host + "/" + e.namespace + "/catalog")
	if err != nil {
		e.Fatal(err)
	}
	repository.PlainHTTP = true
	return repository
}

// shape is a manifest with its layers.
type shape struct {
	manifest v1.Manifest
	layers   []registry.Blob
	// flux is the index of the layer that source-controller selects.
	flux int
}

func catalogLayer(packed []byte) registry.Blob {
	layer := registry.NewBlob(contract.LayerMediaType, packed)
	layer.Descriptor.Annotations = map[string]string{v1.AnnotationTitle: contract.LayerTitle}
	return layer
}

// shaped returns a manifest that follows the contract.
func shaped(layers ...registry.Blob) shape {
	return shape{manifest: v1.Manifest{ArtifactType: contract.ArtifactType, Config: v1.DescriptorEmptyJSON}, layers: layers}
}

// pushed pushes a shape, and sets the artifact of the OCIRepository "catalog": the extracted files, or the
// copied layer.
func (e *environment) pushed(to *remote.Repository, s shape, edit ...func(*sourcev1.OCIRepository)) {
	e.Helper()
	manifest := e.upload(to, s)
	e.fluxPulled(to, manifest, s.layers[s.flux].Content, edit...)
}

// upload pushes a shape and returns the descriptor of the manifest.
func (e *environment) upload(to *remote.Repository, s shape) v1.Descriptor {
	e.Helper()
	s.manifest.Versioned, s.manifest.MediaType = specs.Versioned{SchemaVersion: 2}, v1.MediaTypeImageManifest
	blobs := append([]registry.Blob{{Descriptor: v1.DescriptorEmptyJSON, Content: v1.DescriptorEmptyJSON.Data}}, s.layers...)
	if s.manifest.Config.MediaType != v1.DescriptorEmptyJSON.MediaType {
		blobs = append(blobs, registry.NewBlob(s.manifest.Config.MediaType, []byte("{}")))
		s.manifest.Config = blobs[len(blobs)-1].Descriptor
	}
	s.manifest.Layers = nil
	for _, layer := range s.layers {
		s.manifest.Layers = append(s.manifest.Layers, layer.Descriptor)
	}
	for _, blob := range blobs {
		if err := registry.PushBlob(e.Context(), to, blob); err != nil {
			e.Fatal(err)
		}
	}
	raw, err := json.Marshal(s.manifest)
	if err != nil {
		e.Fatal(err)
	}
	return e.uploadManifest(to, v1.MediaTypeImageManifest, raw)
}

func (e *environment) uploadManifest(to *remote.Repository, mediaType string, raw []byte) v1.Descriptor {
	e.Helper()
	descriptor, err := oras.TagBytes(e.Context(), to, mediaType, raw, "v1")
	if err != nil {
		e.Fatal(err)
	}
	return descriptor
}

// fluxPulled sets the revision of the manifest and the content as the artifact of the OCIRepository "catalog".
func (e *environment) fluxPulled(to *remote.Repository, manifest v1.Descriptor, content []byte, edit ...func(*sourcev1.OCIRepository)) {
	e.Helper()
	artifact := e.source(content)
	repository := &sourcev1.OCIRepository{}
	if err := apiServer.Get(e.Context(), e.key("catalog"), repository); err != nil {
		e.Fatal(err)
	}
	repository.Spec.URL = fmt.Sprintf("oci://%s/%s", to.Reference.Registry, to.Reference.Repository)
	repository.Spec.Insecure = to.PlainHTTP
	artifact.Revision = "v1@" + manifest.Digest.String()
	for _, f := range edit {
		if f != nil {
			f(repository)
		}
	}
	selector := repository.Spec.LayerSelector
	if err := apiServer.Update(e.Context(), repository); err != nil {
		e.Fatal(err)
	}
	repository.Status.Artifact, repository.Status.ObservedLayerSelector = artifact, selector
	repository.Status.ObservedGeneration = repository.Generation
	if err := apiServer.Status().Update(e.Context(), repository); err != nil {
		e.Fatal(err)
	}
}

// selectByManifest creates the selection "kkp" of a source with format Auto.
func (e *environment) selectByManifest(edit ...func(*v1alpha1.CatalogSelection)) {
	e.Helper()
	byManifest := func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
	}
	e.selection("kkp", append([]func(*v1alpha1.CatalogSelection){byManifest}, edit...)...)
}

// layerSelector sets spec.layerSelector of an OCIRepository.
func layerSelector(mediaType, operation string) func(*sourcev1.OCIRepository) {
	return func(r *sourcev1.OCIRepository) {
		r.Spec.LayerSelector = &sourcev1.OCILayerSelector{MediaType: mediaType, Operation: operation}
	}
}

// securedRepository returns a repository for the test in a registry with TLS and a password.
func (e *environment) securedRepository(of *stack.SecureRegistry, user, password string) *remote.Repository {
	e.Helper()
	repository, err := of.Repository(of.Host+"/"+e.namespace+"/catalog", user, password)
	if err != nil {
		e.Fatal(err)
	}
	return repository
}

func reference(name string) *meta.LocalObjectReference { return &meta.LocalObjectReference{Name: name} }

// create creates an object in the namespace of the test.
func (e *environment) create(object client.Object) {
	e.Helper()
	object.SetNamespace(e.namespace)
	if err := apiServer.Create(e.Context(), object); err != nil {
		e.Fatal(err)
	}
}

// body responds with a content of a media type, under the requested digest.
func body(mediaType, content string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Docker-Content-Digest", path.Base(r.URL.Path))
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write([]byte(content))
		return true
	}
}
