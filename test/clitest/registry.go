// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/contract"
)

// Registry serves and stores manifests and blobs. Repositories with the prefix private require
// the user "user" with the password "secret"; those with the prefix denied accept no
// push.
type Registry struct {
	mu        sync.Mutex
	writes    []string          // path of each stored blob and manifest
	manifests map[string]blob   // by repository/manifests/tag and repository/manifests/digest
	blobs     map[string][]byte // by digest
	reads     map[string]int    // of manifests, by method and path
}

type blob struct {
	mediaType string
	content   []byte
}

// StartRegistry returns the address of a registry with the example catalog in several forms.
func StartRegistry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(NewRegistry(t, packDir(t, Path("examples/catalog"))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// EmptyRegistry returns a registry without content.
func EmptyRegistry() *Registry {
	return &Registry{manifests: map[string]blob{}, blobs: map[string][]byte{}, reads: map[string]int{}}
}

// NewRegistry returns a registry with a packed catalog in several forms.
func NewRegistry(t *testing.T, packed []byte) *Registry {
	t.Helper()
	r := EmptyRegistry()
	catalog := r.Layer(packed, v1.MediaTypeImageLayerGzip, "applications")
	readme := r.Layer([]byte("readme"), "text/markdown", "applications")
	hostile := r.Layer(packed[:len(packed)/2], v1.MediaTypeImageLayerGzip, "applications")
	lost := catalog
	lost.Digest = digest.FromString("lost")
	large := catalog
	large.Size = 1 << 40
	swapped := r.Layer([]byte("original"), v1.MediaTypeImageLayerGzip, "applications")
	r.SetBlob(swapped.Digest.String(), []byte("replaced"))

	oras := func(layers ...v1.Descriptor) v1.Manifest {
		return v1.Manifest{ArtifactType: contract.ArtifactType, Config: v1.DescriptorEmptyJSON, Layers: layers}
	}
	r.Push(t, "catalog", oras(readme, catalog))
	r.Push(t, "less", oras(r.Layer(packLess(t), v1.MediaTypeImageLayerGzip, "applications")))
	r.Push(t, "private", oras(catalog))
	r.Push(t, "half", oras(hostile))
	r.Push(t, "lost", oras(lost))
	r.Push(t, "large", oras(large))
	r.Push(t, "swapped", oras(swapped))
	r.Push(t, "two-layers", oras(catalog, catalog))
	r.Push(t, "no-layer", oras(readme))
	r.Push(t, "other-type", v1.Manifest{ArtifactType: "application/vnd.example", Layers: []v1.Descriptor{catalog}})
	r.Push(t, "flux", v1.Manifest{
		Config: v1.Descriptor{MediaType: contract.FluxConfigMediaType},
		Layers: []v1.Descriptor{r.Layer(packed, contract.FluxLayerMediaType, "")},
	})
	r.Push(t, "crds", v1.Manifest{
		Config: v1.Descriptor{MediaType: contract.FluxConfigMediaType},
		Layers: []v1.Descriptor{r.Layer(packDefinition(t), contract.FluxLayerMediaType, "")},
	})
	r.Push(t, "functions", v1.Manifest{
		Config: v1.Descriptor{MediaType: contract.FluxConfigMediaType},
		Layers: []v1.Descriptor{r.Layer(packDir(t, Path("test/clitest/testdata/functions")), contract.FluxLayerMediaType, "")},
	})
	r.Push(t, "bundle", containerImage(t, r, Path("examples/operators/bundles/heron-0.2.0"), "operators.operatorframework.io.bundle.package.v1", "heron"))
	r.Push(t, "stray", containerImage(t, r, Path("test/clitest/testdata/stray"), contract.ConfigsLabel, "/configs"))
	r.Put("index", v1.MediaTypeImageIndex, []byte(`{"schemaVersion": 2, "manifests": []}`), "latest", "v1")
	r.Put("broken", v1.MediaTypeImageManifest, []byte(`{"layers": 3}`), "latest", "v1")
	return r
}

// containerImage stores the image of a directory, and returns its manifest.
func containerImage(t *testing.T, r *Registry, dir, label, value string) v1.Manifest {
	t.Helper()
	config, err := json.Marshal(v1.Image{Config: v1.ImageConfig{Labels: map[string]string{label: value}}})
	if err != nil {
		t.Fatal(err)
	}
	return v1.Manifest{
		MediaType: v1.MediaTypeImageManifest, Config: r.Layer(config, v1.MediaTypeImageConfig, ""),
		Layers: []v1.Descriptor{r.Layer(packDir(t, dir), v1.MediaTypeImageLayerGzip, "")},
	}
}

// packDefinition packs a CustomResourceDefinition whose only field is spec.method.
func packDefinition(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	content := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  group: example.com\n  scope: Cluster\n" +
		"  names: {kind: ApplicationDefinition}\n  versions:\n  - name: v1\n    served: true\n    schema: {openAPIV3Schema: {type: object, " +
		"properties: {spec: {type: object, properties: {method: {type: string}}}}}}\n"
	WriteFile(t, filepath.Join(dir, "crd.yaml"), content)
	return packDir(t, dir)
}

// packLess packs the example catalog without loki and without a version of argocd.
func packLess(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(Path("examples/catalog"))); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "applications", "loki")); err != nil {
		t.Fatal(err)
	}
	argocd := filepath.Join(dir, "applications", "argocd", "application.yaml")
	before, rest, _ := strings.Cut(ReadFile(t, argocd), "    - version: 2.13.0")
	_, after, _ := strings.Cut(rest, "    - version")
	WriteFile(t, argocd, before+"    - version"+after)
	lists, err := filepath.Glob(filepath.Join(dir, "catalogs", "*", "metadata.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		WriteFile(t, list, strings.ReplaceAll(ReadFile(t, list), "  - loki\n", ""))
	}
	return packDir(t, dir)
}

// Layer adds a blob and returns the descriptor of a layer with the title.
func (r *Registry) Layer(content []byte, mediaType, title string) v1.Descriptor {
	d := digest.FromBytes(content)
	r.SetBlob(d.String(), content)
	descriptor := v1.Descriptor{MediaType: mediaType, Digest: d, Size: int64(len(content))}
	if title != "" {
		descriptor.Annotations = map[string]string{v1.AnnotationTitle: title}
	}
	return descriptor
}

// Push adds a manifest under the tags latest and v1.
func (r *Registry) Push(t testing.TB, repository string, manifest v1.Manifest) {
	t.Helper()
	r.Put(repository, v1.MediaTypeImageManifest, Encoded(t, manifest), "latest", "v1")
}

// Encoded returns a manifest as it is stored.
func Encoded(t testing.TB, manifest v1.Manifest) []byte {
	t.Helper()
	manifest.Versioned = specs.Versioned{SchemaVersion: 2}
	manifest.MediaType = v1.MediaTypeImageManifest
	content, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Put adds a manifest under tags, and under its digest.
func (r *Registry) Put(repository, mediaType string, content []byte, tags ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, reference := range append(tags, digest.FromBytes(content).String()) {
		r.manifests[repository+"/manifests/"+reference] = blob{mediaType, content}
	}
}

func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	path := strings.TrimPrefix(req.URL.Path, "/v2/")
	if user, password, _ := req.BasicAuth(); strings.HasPrefix(path, "private/") && (user != "user" || password != "secret") {
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if req.Method == http.MethodPost || req.Method == http.MethodPut {
		r.take(w, req, path)
		return
	}
	if manifest, ok := r.manifests[path]; ok {
		r.reads[req.Method+" "+path]++
		serve(w, digest.FromBytes(manifest.content).String(), manifest)
		return
	}
	if repository, ok := strings.CutSuffix(path, "/tags/list"); ok {
		r.list(w, repository, req.URL.Query().Get("last"))
		return
	}
	_, d, _ := strings.Cut(path, "/blobs/")
	content, ok := r.blobs[d]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	serve(w, d, blob{"application/octet-stream", content})
}

// Manifest returns the content of the manifest at a path, such as catalog/manifests/v1.
func (r *Registry) Manifest(path string) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.manifests[path].content
}

// Delete removes the manifest at a path.
func (r *Registry) Delete(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.manifests, path)
}

// SetBlob serves content under a digest, which may be another content's.
func (r *Registry) SetBlob(digest string, content []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.blobs[digest] = content
}

// Written returns the paths of the blobs and manifests that clients have stored since the last call.
func (r *Registry) Written() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	written := r.writes
	r.writes = nil
	return written
}

// Reads returns how often each manifest was read, by method and path.
func (r *Registry) Reads() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.reads)
}

// list serves pages of two tags.
func (r *Registry) list(w http.ResponseWriter, repository, last string) {
	var tags []string
	for _, path := range slices.Sorted(maps.Keys(r.manifests)) {
		if tag, ok := strings.CutPrefix(path, repository+"/manifests/"); ok && tag > last && !strings.Contains(tag, ":") {
			tags = append(tags, tag)
		}
	}
	if len(tags) > 2 {
		tags = tags[:2]
		w.Header().Set("Link", fmt.Sprintf(`</v2/%s/tags/list?last=%s>; rel="next"`, repository, tags[1]))
	}
	content, _ := json.Marshal(map[string]any{"name": repository, "tags": tags})
	_, _ = w.Write(content)
}

// take stores a push of a whole blob or of a manifest.
func (r *Registry) take(w http.ResponseWriter, req *http.Request, path string) {
	name, reference, _ := strings.Cut(path, "/manifests/")
	content, err := io.ReadAll(req.Body)
	d := digest.FromBytes(content).String()
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
		return
	case strings.HasPrefix(path, "denied"):
		http.Error(w, `{"errors": [{"code": "DENIED", "message": "requested access to the resource is denied"}]}`, http.StatusForbidden)
		return
	case req.Method == http.MethodPost:
		w.Header().Set("Location", "/v2/"+path+"upload")
		w.WriteHeader(http.StatusAccepted)
		return
	case reference != "":
		r.manifests[path] = blob{req.Header.Get("Content-Type"), content}
		r.manifests[name+"/manifests/"+d] = r.manifests[path]
	case req.URL.Query().Get("digest") != d:
		w.WriteHeader(http.StatusBadRequest)
		return
	default:
		r.blobs[d] = content
		path = strings.Replace(path, "uploads/upload", d, 1)
	}
	r.writes = append(r.writes, path)
	w.Header().Set("Docker-Content-Digest", d)
	w.WriteHeader(http.StatusCreated)
}

func serve(w http.ResponseWriter, d string, b blob) {
	w.Header().Set("Content-Type", b.mediaType)
	w.Header().Set("Docker-Content-Digest", d)
	w.Header().Set("Content-Length", strconv.Itoa(len(b.content)))
	// net/http drops the body of the answer to HEAD.
	_, _ = w.Write(b.content)
}

// Pack returns the tar.gz of a directory.
func Pack(dir string) ([]byte, error) {
	var out bytes.Buffer
	files, err := archive.ReadFS(context.Background(), os.DirFS(dir), archive.Limits{})
	if err != nil {
		return nil, err
	}
	err = archive.Write(&out, files)
	return out.Bytes(), err
}

func packDir(t *testing.T, dir string) []byte {
	t.Helper()
	packed, err := Pack(dir)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}
