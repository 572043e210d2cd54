// SPDX-License-Identifier: Apache-2.0

package oci_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/tree"
)

// memory is a registry that stores pushed content by its path.
type memory struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func (m *memory) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	path := req.URL.Path
	switch req.Method {
	case http.MethodPost:
		w.Header().Set("Location", path)
		w.WriteHeader(http.StatusAccepted)
	case http.MethodPut:
		content, _ := io.ReadAll(req.Body)
		m.kept[path] = content
		sum := digest.FromBytes(content).String()
		m.kept[strings.Replace(path, "/uploads/", "/"+sum, 1)] = content
		m.kept["/v2/catalog/manifests/"+sum] = content
		w.WriteHeader(http.StatusCreated)
	default:
		content, found := m.kept[path]
		if !found {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", v1.MediaTypeImageManifest)
		w.Header().Set("Docker-Content-Digest", digest.FromBytes(content).String())
		_, _ = w.Write(content)
	}
}

func connect(t *testing.T, address string) *oci.Repository {
	t.Helper()
	reference, err := oci.ParseReference(address)
	if err != nil {
		t.Fatal(err)
	}
	repository, err := oci.Connect(reference, oci.Access{PlainHTTP: func(string) bool { return true }}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return repository
}

// A pushed artifact can be pulled by tag and by digest, and Push returns a tag that it moved.
func TestPushAndPull(t *testing.T) {
	server := httptest.NewServer(&memory{kept: map[string][]byte{}})
	defer server.Close()
	address := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/catalog"
	push := func(content string) (digest string, moved []oci.MovedTag) {
		t.Helper()
		files := tree.New()
		if err := files.Add("applications/a/application.yaml", []byte(content)); err != nil {
			t.Fatal(err)
		}
		packed, err := oci.Pack("catalog", catalog.Applications{}, files, nil)
		if err != nil {
			t.Fatal(err)
		}
		moved, err = connect(t, address).Push(t.Context(), packed, []string{"latest"}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return packed.Manifest.Descriptor.Digest.String(), moved
	}
	first, moved := push("first")
	if len(moved) > 0 {
		t.Errorf("the first push moves %v", moved)
	}
	second, moved := push("second")
	if want := []oci.MovedTag{{Name: "latest", Was: first}}; !slices.Equal(moved, want) {
		t.Errorf("moved %v, want %v", moved, want)
	}
	for where, want := range map[string]string{address: second, address + ":latest": second, address + "@" + first: first} {
		pulled, err := connect(t, where).Pull(t.Context(), v1alpha1.FormatAuto)
		if err != nil || pulled.Digest != want {
			t.Fatalf("%s is %s, want %s: %v", where, pulled.Digest, want, err)
		}
		files, err := archive.Read(t.Context(), bytes.NewReader(pulled.Layer), archive.Limits{})
		if err != nil || files.Len() != 1 {
			t.Errorf("%s has %v: %v", where, files, err)
		}
	}
	if _, err := connect(t, address+":none").Pull(t.Context(), v1alpha1.FormatAuto); err == nil || !strings.Contains(err.Error(), "no such repository or tag") {
		t.Errorf("a tag that is not there: %v", err)
	}
}

// A hostile registry must not reach the network of a CI runner.
func TestARegistryDirectsNoRequestToAnotherPort(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		t.Error("the service was requested")
		_, _ = w.Write([]byte(`{"token": "internal"}`))
	}))
	defer service.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Www-Authenticate", `Bearer realm="`+service.URL+`/token"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	_, err := connect(t, "oci://"+strings.TrimPrefix(server.URL, "http://")+"/catalog").Pull(t.Context(), v1alpha1.FormatAuto)
	if err == nil || !strings.Contains(err.Error(), "--allowed-token-hosts="+strings.TrimPrefix(service.URL, "http://")) {
		t.Errorf("Pull() = %v, which does not name the flag", err)
	}
}

// Of a registry inside of the network, another port may issue the tokens.
func TestAnAllowedHostIssuesTokens(t *testing.T) {
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"token": "valid"}`)) }))
	defer tokens.Close()
	stored := &memory{kept: map[string][]byte{"/v2/catalog/manifests/latest": []byte(`{"layers": []}`)}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer valid" {
			w.Header().Set("Www-Authenticate", `Bearer realm="`+tokens.URL+`/token"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		stored.ServeHTTP(w, r)
	}))
	defer server.Close()
	access := oci.Access{PlainHTTP: func(string) bool { return true }}
	if err := access.TokenHosts.Set(strings.TrimPrefix(tokens.URL, "http://")); err != nil {
		t.Fatal(err)
	}
	reference, err := oci.ParseReference("oci://" + strings.TrimPrefix(server.URL, "http://") + "/catalog")
	if err != nil {
		t.Fatal(err)
	}
	repository, err := oci.Connect(reference, access, nil)
	if err != nil {
		t.Fatal(err)
	}
	var refused *render.Error // the manifest was read: it is that of no catalog
	if _, err := repository.Pull(t.Context(), v1alpha1.FormatAuto); !errors.As(err, &refused) {
		t.Errorf("Pull() = %v", err)
	}
}

// A readable artifact that is not a catalog is a *render.Error.
func TestPullRefusesWhatIsNoCatalog(t *testing.T) {
	server := httptest.NewServer(&memory{kept: map[string][]byte{"/v2/catalog/manifests/latest": []byte(`{"layers": []}`)}})
	defer server.Close()
	_, err := connect(t, "oci://"+strings.TrimPrefix(server.URL, "http://")+"/catalog").Pull(t.Context(), v1alpha1.FormatAuto)
	var refused *render.Error
	if !errors.As(err, &refused) || refused.Reason() != v1alpha1.ContractViolatedReason {
		t.Errorf("Pull() = %v", err)
	}
}

func TestCatalogFilesAreThoseOfTheCatalog(t *testing.T) {
	all := tree.New()
	for _, path := range []string{
		"README.md", "applications/a/application.yaml", "applications/a/.swp", "applications/.git/x", "catalogs/all/metadata.yaml", "charts/a/values.yaml",
	} {
		if err := all.Add(path, nil); err != nil {
			t.Fatal(err)
		}
	}
	files, err := oci.CatalogFiles(t.Context(), "catalog", catalog.Applications{}, all)
	if want := []string{"applications/a/application.yaml", "catalogs/all/metadata.yaml"}; err != nil || !slices.Equal(files.Paths(), want) {
		t.Errorf("published are %v, want %v: %v", files.Paths(), want, err)
	}
	var refused *render.Error
	if _, err := oci.CatalogFiles(t.Context(), "catalog", catalog.Applications{}, tree.New()); !errors.As(err, &refused) || refused.Reason() != v1alpha1.InvalidCatalogReason {
		t.Errorf("a directory without applications: %v", err)
	}
}

func TestParseReference(t *testing.T) {
	reference, err := oci.ParseReference("oci://example.com:5000/org/catalog:v1")
	if err != nil || oci.Address(reference) != "oci://example.com:5000/org/catalog" ||
		oci.DigestAddress(reference, "sha256:01") != "oci://example.com:5000/org/catalog@sha256:01" {
		t.Errorf("ParseReference() = %+v, %v", reference, err)
	}
	for _, address := range []string{"example.com/catalog", "oci://example.com", "oci://example.com/Catalog", "https://example.com/catalog"} {
		if reference, err := oci.ParseReference(address); err == nil {
			t.Errorf("%s is %+v", address, reference)
		}
	}
	_, err = oci.ParseReference("oci://example.com/catalog:v1.0.0+build5")
	if want := "write _ instead, oci://example.com/catalog:v1.0.0_build5"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("the error of a tag with + is %v, want %s", err, want)
	}
}
