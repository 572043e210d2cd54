// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
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

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/render/contract"
)

// fakeRegistry serves and stores manifests and blobs. Repositories with the prefix private require
// the user "user" with the password "secret"; those with the prefix denied accept no
// push.
type fakeRegistry struct {
	mu        sync.Mutex
	writes    []string          // path of each stored blob and manifest
	manifests map[string]blob   // by repository/tag and repository@digest
	blobs     map[string][]byte // by digest
	reads     map[string]int    // of manifests, by path
}

type blob struct {
	mediaType string
	content   []byte
}

// startRegistry returns the address of a registry with the example catalog in several forms.
func startRegistry(t *testing.T) string {
	t.Helper()
	packed, err := pack("../../examples/catalog")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(newRegistry(t, packed))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func newRegistry(t *testing.T, packed []byte) *fakeRegistry {
	r := &fakeRegistry{manifests: map[string]blob{}, blobs: map[string][]byte{}}
	catalog := r.layer(packed, v1.MediaTypeImageLayerGzip, "applications")
	readme := r.layer([]byte("readme"), "text/markdown", "applications")
	hostile := r.layer(packed[:len(packed)/2], v1.MediaTypeImageLayerGzip, "applications")
	lost := catalog
	lost.Digest = digest.FromString("lost")
	large := catalog
	large.Size = 1 << 40
	swapped := r.layer([]byte("original"), v1.MediaTypeImageLayerGzip, "applications")
	r.blobs[swapped.Digest.String()] = []byte("replaced")

	oras := func(layers ...v1.Descriptor) v1.Manifest {
		return v1.Manifest{ArtifactType: contract.ArtifactType, Config: v1.DescriptorEmptyJSON, Layers: layers}
	}
	r.push(t, "catalog", oras(readme, catalog))
	r.push(t, "less", oras(r.layer(packLess(t), v1.MediaTypeImageLayerGzip, "applications")))
	r.push(t, "private", oras(catalog))
	r.push(t, "half", oras(hostile))
	r.push(t, "lost", oras(lost))
	r.push(t, "large", oras(large))
	r.push(t, "swapped", oras(swapped))
	r.push(t, "two-layers", oras(catalog, catalog))
	r.push(t, "no-layer", oras(readme))
	r.push(t, "other-type", v1.Manifest{ArtifactType: "application/vnd.example", Layers: []v1.Descriptor{catalog}})
	r.push(t, "flux", v1.Manifest{
		Config: v1.Descriptor{MediaType: contract.FluxConfigMediaType},
		Layers: []v1.Descriptor{r.layer(packed, contract.FluxLayerMediaType, "")},
	})
	r.push(t, "crds", v1.Manifest{
		Config: v1.Descriptor{MediaType: contract.FluxConfigMediaType},
		Layers: []v1.Descriptor{r.layer(packDefinition(t), contract.FluxLayerMediaType, "")},
	})
	functions, err := pack("testdata/functions")
	if err != nil {
		t.Fatal(err)
	}
	r.push(t, "functions", v1.Manifest{
		Config: v1.Descriptor{MediaType: contract.FluxConfigMediaType},
		Layers: []v1.Descriptor{r.layer(functions, contract.FluxLayerMediaType, "")},
	})
	r.push(t, "bundle", containerImage(t, r, "../../examples/operators/bundles/heron-0.2.0", "operators.operatorframework.io.bundle.package.v1", "heron"))
	r.push(t, "stray", containerImage(t, r, "testdata/stray", contract.ConfigsLabel, "/configs"))
	r.put("index", v1.MediaTypeImageIndex, []byte(`{"schemaVersion": 2, "manifests": []}`), "latest", "v1")
	r.put("broken", v1.MediaTypeImageManifest, []byte(`{"layers": 3}`), "latest", "v1")
	return r
}

// containerImage stores the image of a directory, and returns its manifest.
func containerImage(t *testing.T, r *fakeRegistry, dir, label, value string) v1.Manifest {
	t.Helper()
	packed, err := pack(dir)
	if err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(v1.Image{Config: v1.ImageConfig{Labels: map[string]string{label: value}}})
	if err != nil {
		t.Fatal(err)
	}
	return v1.Manifest{
		MediaType: v1.MediaTypeImageManifest, Config: r.layer(config, v1.MediaTypeImageConfig, ""),
		Layers: []v1.Descriptor{r.layer(packed, v1.MediaTypeImageLayerGzip, "")},
	}
}

// packDefinition packs a CustomResourceDefinition whose only field is spec.method.
func packDefinition(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	content := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  group: example.com\n  scope: Cluster\n" +
		"  names: {kind: ApplicationDefinition}\n  versions:\n  - name: v1\n    served: true\n    schema: {openAPIV3Schema: {type: object, " +
		"properties: {spec: {type: object, properties: {method: {type: string}}}}}}\n"
	if err := os.WriteFile(filepath.Join(dir, "crd.yaml"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	packed, err := pack(dir)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// packLess packs the example catalog without loki and without a version of argocd.
func packLess(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/catalog")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "applications", "loki")); err != nil {
		t.Fatal(err)
	}
	argocd := filepath.Join(dir, "applications", "argocd", "application.yaml")
	before, rest, _ := strings.Cut(readFileString(t, argocd), "    - version: 2.13.0")
	_, after, _ := strings.Cut(rest, "    - version")
	writeFile(t, argocd, before+"    - version"+after)
	lists, err := filepath.Glob(filepath.Join(dir, "catalogs", "*", "metadata.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		writeFile(t, list, strings.ReplaceAll(readFileString(t, list), "  - loki\n", ""))
	}
	packed, err := pack(dir)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// layer adds a blob and returns the descriptor of a layer with the title.
func (r *fakeRegistry) layer(content []byte, mediaType, title string) v1.Descriptor {
	d := digest.FromBytes(content)
	r.blobs[d.String()] = content
	descriptor := v1.Descriptor{MediaType: mediaType, Digest: d, Size: int64(len(content))}
	if title != "" {
		descriptor.Annotations = map[string]string{v1.AnnotationTitle: title}
	}
	return descriptor
}

// push adds a manifest under the tags latest and v1.
func (r *fakeRegistry) push(t testing.TB, repository string, manifest v1.Manifest) {
	t.Helper()
	r.put(repository, v1.MediaTypeImageManifest, encoded(t, manifest), "latest", "v1")
}

// encoded returns a manifest as it is stored.
func encoded(t testing.TB, manifest v1.Manifest) []byte {
	t.Helper()
	manifest.Versioned = specs.Versioned{SchemaVersion: 2}
	manifest.MediaType = v1.MediaTypeImageManifest
	content, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func (r *fakeRegistry) put(repository, mediaType string, content []byte, tags ...string) {
	for _, reference := range append(tags, digest.FromBytes(content).String()) {
		r.manifests[repository+"/manifests/"+reference] = blob{mediaType, content}
	}
}

func (r *fakeRegistry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
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
		if r.reads == nil {
			r.reads = map[string]int{}
		}
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

// manifest returns the content of a manifest that was stored.
func (r *fakeRegistry) manifest(path string) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.manifests[path].content
}

// list serves pages of two tags.
func (r *fakeRegistry) list(w http.ResponseWriter, repository, last string) {
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
func (r *fakeRegistry) take(w http.ResponseWriter, req *http.Request, path string) {
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

// An interrupted pull leaves the output directory unchanged.
func TestRenderInterruptedWhilePulling(t *testing.T) {
	packed, err := pack("../../examples/catalog")
	if err != nil {
		t.Fatal(err)
	}
	inner := newRegistry(t, packed)
	for _, output := range []string{"-o", "--archive"} {
		t.Run(output, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if !strings.Contains(req.URL.Path, "/blobs/") {
					inner.ServeHTTP(w, req)
					return
				}
				cancel()
				<-req.Context().Done()
			}))
			defer server.Close()
			dir := t.TempDir()
			target := filepath.Join(dir, "out")
			if output == "--archive" {
				writeFile(t, target, "last good")
			}
			source := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/catalog"
			got := execute(ctx, "render", "-f", "../../examples/gitops/selection.yaml", "--plain-http",
				"--source", source, output, target)
			want := execution{code: root.ExitFailed, stderr: "winnow: interrupted\n"}
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			if output == "-o" && len(entries) != 0 {
				t.Errorf("left behind: %v", entries)
			}
			if output == "--archive" && (len(entries) != 1 || readFileString(t, target) != "last good") {
				t.Errorf("the archive did not survive: %v", entries)
			}
		})
	}
}

// The errors of a registry with TLS have advice on trust and on plain HTTP.
func TestAdviseOnTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "https://")
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "; pass --ca-file with the authority of " + host + ", or trust it on this machine\n"},
		{[]string{"--plain-http"}, "; a registry with TLS needs no --plain-http\n"},
	} {
		got := execute(t.Context(), append([]string{"lint", "oci://" + host + "/catalog:v1"}, test.args...)...)
		if got.code != root.ExitFailed || !strings.HasSuffix(got.stderr, test.want) {
			t.Errorf("%q: got %+v, want %q", test.args, got, test.want)
		}
	}
}
