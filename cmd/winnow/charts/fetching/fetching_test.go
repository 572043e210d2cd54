// SPDX-License-Identifier: Apache-2.0

package fetching_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/test/canary"
)

// archive is that of a chart.
var archive = pack("web")

// pack returns the archive of a chart with a name.
func pack(name string) []byte {
	packed, err := fetching.Pack(context.Background(), name, fstest.MapFS{"Chart.yaml": {Data: []byte("name: " + name)}})
	if err != nil {
		panic(err)
	}
	return packed
}

// login stores credentials for a host as docker login does.
func login(t *testing.T, host string) {
	t.Helper()
	directory := t.TempDir()
	t.Setenv("DOCKER_CONFIG", directory)
	config := fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, host, base64.StdEncoding.EncodeToString([]byte("user:"+canary.Secret)))
	if err := os.WriteFile(filepath.Join(directory, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// watched is a fetcher whose errors must not have the secret of canary, which each chart is fetched with.
type watched struct {
	*testing.T
	*fetching.Fetcher
}

// Fetch fetches a chart from a URL with a token.
func (w watched) Fetch(ctx context.Context, r fetching.Reference) ([]byte, error) {
	w.Helper()
	if strings.HasPrefix(r.URL, "http") {
		r.URL += "?token=" + canary.Secret
	}
	content, err := w.Fetcher.Fetch(ctx, r)
	if err != nil && canary.In(err.Error()) != "" {
		w.Errorf("Fetch() shows a secret: %v", err)
	}
	return content, err
}

func fetcher(t *testing.T, plain bool, cache fetching.Cache) watched {
	t.Helper()
	f, err := fetching.New(oci.Access{PlainHTTP: func(string) bool { return plain }}, cache)
	if err != nil {
		t.Fatal(err)
	}
	return watched{t, f}
}

// repository serves an index.yaml, and archives below charts.
type repository struct {
	index    string
	archives atomic.Int64 // requests
	secured  bool
}

func (r *repository) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	_, password, _ := request.BasicAuth()
	switch {
	case r.secured && password != canary.Secret:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, request.Header.Get("Authorization")) // as a hostile one would
	case request.URL.Path == "/stable/index.yaml":
		_, _ = io.WriteString(w, r.index)
	case strings.HasPrefix(request.URL.Path, "/stable/charts/"):
		r.archives.Add(1)
		_, _ = w.Write(archive)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// entryOf is an index.yaml with a chart.
func entryOf(version, url, sum string) string {
	return fmt.Sprintf("apiVersion: v1\nentries:\n  web:\n  - version: 0.9.0\n    urls: [other]\n  - version: %s\n    urls: [%q]\n    digest: %q\n", version, url, sum)
}

func TestFetchFromARepository(t *testing.T) {
	sum := digest.FromBytes(archive).Encoded()
	for _, test := range []struct {
		name, index, version string
		want                 string // error; empty: none
	}{
		{"a relative URL, with a digest", entryOf("1.0.0", "charts/web-1.0.0.tgz", sum), "1.0.0", ""},
		{"a version that is written without v", entryOf("v1.0.0", "charts/web-1.0.0.tgz", sum), "1.0.0", ""},
		{"no digest", entryOf("1.0.0", "charts/web-1.0.0.tgz", ""), "1.0.0", ""},
		{"another digest", entryOf("1.0.0", "charts/web-1.0.0.tgz", digest.FromString("x").Encoded()), "1.0.0", "its archive has the digest sha256:"},
		{"a digest that is none", entryOf("1.0.0", "charts/web-1.0.0.tgz", "x"), "1.0.0", "its index.yaml has a digest of the archive that is none"},
		{"a version with other metadata", entryOf("1.0.0+a", "charts/web-1.0.0.tgz", sum), "1.0.0+b", ""},
		{"a range", entryOf("1.0.0", "charts/web-1.0.0.tgz", sum), ">=1", ""},
		{"a range that no version is in", entryOf("1.0.0", "charts/web-1.0.0.tgz", sum), ">1", "its index.yaml has no version >1 of the chart web"},
		{"no such archive", entryOf("1.0.0", "nowhere", sum), "1.0.0", "404 Not Found: there is no such repository or archive"},
		{"a file of this machine", entryOf("1.0.0", "file:///etc/passwd", sum), "1.0.0", `want a URL that begins with https://`},
		{"a password", entryOf("1.0.0", "http://user:secret@127.0.0.1/x", sum), "1.0.0", "its URL has a user or a password"},
		{"no URL", "entries: {web: [{version: 1.0.0}]}", "1.0.0", "its index.yaml has no URL of the archive"},
		{"no list", "entries: {web: {version: 1.0.0}}", "1.0.0", "its index.yaml has no chart web"},
		{"no entries", "[]", "1.0.0", "its index.yaml has no mapping entries"},
		{"no YAML", "{", "1.0.0", "its index.yaml is not valid"},
		{"many values", strings.Repeat("-\n", 5_000_000), "1.0.0", "its index.yaml may have more than 5000000 values"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(&repository{index: test.index})
			defer server.Close()
			reference := fetching.Reference{URL: server.URL + "/stable", Name: "web", Version: test.version}
			got, err := fetcher(t, true, fetching.Cache{}).Fetch(t.Context(), reference)
			if test.want == "" && (err != nil || !bytes.Equal(got, archive)) || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("Fetch() = %q, %v", got, err)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error has a password: %v", err)
			}
		})
	}
}

// Parsed indexes stay in memory: a catalog may name many repositories.
func TestAllIndexesAreBoundedTogether(t *testing.T) {
	large := entryOf("1.0.0", "charts/web-1.0.0.tgz", "") + strings.Repeat("#-\n", 3_400_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "index.yaml") {
			_, _ = io.WriteString(w, large)
			return
		}
		_, _ = w.Write(archive)
	}))
	defer server.Close()
	f := fetcher(t, true, fetching.Cache{})
	for i, want := range []string{"", "", "the index.yaml of all repositories may have more than 10000000 values"} {
		_, err := f.Fetch(t.Context(), fetching.Reference{URL: fmt.Sprintf("%s/%d", server.URL, i), Name: "web", Version: "1.0.0"})
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.Contains(got, want) {
			t.Errorf("repository %d: %v", i, err)
		}
	}
}

func TestCredentials(t *testing.T) {
	index := entryOf("1.0.0", "charts/web-1.0.0.tgz", "")
	server := httptest.NewServer(&repository{index: index, secured: true})
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	reference := fetching.Reference{URL: server.URL + "/stable/", Name: "web", Version: "1.0.0"}
	if _, err := fetcher(t, true, fetching.Cache{}).Fetch(t.Context(), reference); err == nil || !strings.Contains(err.Error(), "docker login "+host) {
		t.Errorf("without credentials: %v", err)
	}
	login(t, host)
	if _, err := fetcher(t, true, fetching.Cache{}).Fetch(t.Context(), reference); err != nil {
		t.Errorf("with credentials: %v", err)
	}
	if _, err := fetcher(t, false, fetching.Cache{}).Fetch(t.Context(), reference); err == nil {
		t.Error("credentials are sent without TLS")
	}
	elsewhere := httptest.NewServer(http.RedirectHandler(strings.Replace(server.URL, "127.0.0.1", "localhost", 1)+"/stable/index.yaml", http.StatusFound))
	defer elsewhere.Close()
	login(t, strings.TrimPrefix(elsewhere.URL, "http://"))
	if _, err := fetcher(t, true, fetching.Cache{}).Fetch(t.Context(), fetching.Reference{URL: elsewhere.URL, Name: "web", Version: "1.0.0"}); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("the credentials of a host are sent to another one: %v", err)
	}
}

// A server may quote what it is sent, where a library passes the text on.
func TestServersThatQuoteTheRequest(t *testing.T) {
	for _, test := range []struct{ name, answer string }{
		{"in the words of the status", "HTTP/1.1 404 %s\r\nContent-Length: 0\r\n\r\n"},
		{"in a header", "HTTP/1.1 200 OK\r\n%s\r\n\r\n"},
		{"instead of an answer", "%s\r\n\r\n"},
		{"in a redirect", "HTTP/1.1 302 Found\r\nLocation: http://%%zz/%s\r\nContent-Length: 0\r\n\r\n"},
		{"in the path of a redirect", "HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/%s?%[1]s\r\nContent-Length: 0\r\n\r\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				_, password, _ := request.BasicAuth()
				_, _ = fmt.Fprintf(conn, test.answer, password+request.Header.Get("Authorization"))
			}))
			defer server.Close()
			login(t, strings.TrimPrefix(server.URL, "http://"))
			if _, err := fetcher(t, true, fetching.Cache{}).Fetch(t.Context(), fetching.Reference{URL: server.URL, Name: "web", Version: "1.0.0"}); err == nil {
				t.Error("Fetch() returns no error")
			} else {
				t.Log(err)
			}
		})
	}
}

func TestARedirectKeepsTLS(t *testing.T) {
	plain := httptest.NewServer(&repository{})
	defer plain.Close()
	server := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer server.Close()
	f, err := fetching.New(oci.Access{TLS: server.Client().Transport.(*http.Transport).TLSClientConfig}, fetching.Cache{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Fetch(t.Context(), fetching.Reference{URL: server.URL, Name: "web", Version: "1.0.0"}); err == nil || !strings.Contains(err.Error(), "redirected to an address without TLS") {
		t.Errorf("Fetch() = %v", err)
	}
}

func TestTheCacheServesWhatHasTheDigest(t *testing.T) {
	r := &repository{index: entryOf("1.0.0", "charts/web-1.0.0.tgz", digest.FromBytes(archive).Encoded())}
	server := httptest.NewServer(r)
	defer server.Close()
	cache := fetching.Cache{Directory: filepath.Join(t.TempDir(), "charts")}
	fetch := func(wantRequests int64) {
		t.Helper()
		got, err := fetcher(t, true, cache).Fetch(t.Context(), fetching.Reference{URL: server.URL + "/stable", Name: "web", Version: "1.0.0"})
		if err != nil || !bytes.Equal(got, archive) || r.archives.Load() != wantRequests {
			t.Errorf("Fetch() = %q, %v, after %d requests, want %d", got, err, r.archives.Load(), wantRequests)
		}
	}
	fetch(1)
	fetch(1)
	kept, err := filepath.Glob(filepath.Join(cache.Directory, "*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept are %q, %v", kept, err)
	}
	if err := os.WriteFile(kept[0], []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	fetch(2)
}

func TestTheCacheIsBounded(t *testing.T) {
	cache := fetching.Cache{Directory: t.TempDir(), Most: int64(len(pack("0")) * 5 / 2)}
	index := "entries:\n"
	for i := range 5 {
		index += fmt.Sprintf("  web%d: [{version: 1.0.0, urls: [charts/%d]}]\n", i, i)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "index.yaml") {
			_, _ = io.WriteString(w, index)
			return
		}
		_, _ = w.Write(pack(r.URL.Path[len(r.URL.Path)-1:]))
	}))
	defer server.Close()
	other := filepath.Join(cache.Directory, "other")
	if err := os.WriteFile(other, make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		reference := fetching.Reference{URL: server.URL, Name: fmt.Sprintf("web%d", i), Version: "1.0.0"}
		if _, err := fetcher(t, true, cache).Fetch(t.Context(), reference); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := filepath.Glob(filepath.Join(cache.Directory, "*.tgz"))
	if err != nil || len(kept) != 2 {
		t.Errorf("kept are %q, %v", kept, err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("a file that is no archive: %v", err)
	}
}

// What a server of a network answers to a request that a catalog made is not kept.
func TestTheCacheKeepsOnlyCharts(t *testing.T) {
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	_, err := io.WriteString(w, "hidden")
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	other, err := fetching.Pack(t.Context(), "web/below", fstest.MapFS{"Chart.yaml": {Data: []byte("hidden")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		content []byte
		want    int
	}{
		{"a chart", archive, 1}, {"a text", []byte("hidden"), 0}, {"a text in gzip", compressed.Bytes(), 0},
		{"a part of a chart", archive[:len(archive)-1], 0}, {"a chart with more behind it", append(bytes.Clone(archive), "hidden"...), 0},
		{"an archive without a Chart.yaml where Helm reads it", other, 0}, {"an empty one", nil, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "index.yaml") {
					_, _ = io.WriteString(w, entryOf("1.0.0", "x", ""))
					return
				}
				_, _ = w.Write(test.content)
			}))
			defer server.Close()
			cache := fetching.Cache{Directory: filepath.Join(t.TempDir(), "charts")}
			got, err := fetcher(t, true, cache).Fetch(t.Context(), fetching.Reference{URL: server.URL, Name: "web", Version: "1.0.0"})
			if err != nil || !bytes.Equal(got, test.content) {
				t.Errorf("Fetch() = %q, %v", got, err)
			}
			kept, err := filepath.Glob(filepath.Join(cache.Directory, "*"))
			if err != nil || len(kept) != test.want {
				t.Errorf("kept are %q, %v, want %d", kept, err, test.want)
			}
		})
	}
}

func TestFetchFromARegistry(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	push(t, host+"/charts/web:1.0.0_a", contract.ChartMediaType)
	push(t, host+"/charts/web:2.0.0", "application/vnd.example")
	fetch := func(version string) ([]byte, error) {
		reference := fetching.Reference{URL: "oci://" + host + "/charts/", Name: "web", Version: version}
		return fetcher(t, true, fetching.Cache{Directory: filepath.Join(t.TempDir(), "charts")}).Fetch(t.Context(), reference)
	}
	if got, err := fetch("1.0.0+a"); err != nil || !bytes.Equal(got, archive) {
		t.Errorf("Fetch() = %q, %v", got, err)
	}
	for version, want := range map[string]string{
		"2.0.0": "the artifact is no chart: want a layer of media type", "3.0.0": "no such repository or tag", "4.0.0_": "neither a version nor a range", "~4.0": "is a range",
	} {
		if _, err := fetch(version); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Fetch() = %v", version, err)
		}
	}
}

// push pushes an artifact with a layer.
func push(t *testing.T, reference, layerType string) {
	t.Helper()
	ctx := t.Context()
	repository, err := remote.NewRepository(reference)
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	config, layer := content.NewDescriptorFromBytes("application/vnd.cncf.helm.config.v1+json", []byte("{}")), content.NewDescriptorFromBytes(layerType, archive)
	for descriptor, blob := range map[*v1.Descriptor][]byte{&config: []byte("{}"), &layer: archive} {
		if err := repository.Push(ctx, *descriptor, bytes.NewReader(blob)); err != nil {
			t.Fatal(err)
		}
	}
	manifest, err := oras.PackManifest(ctx, repository, oras.PackManifestVersion1_0, "", oras.PackManifestOptions{ConfigDescriptor: &config, Layers: []v1.Descriptor{layer}})
	if err == nil {
		err = repository.Tag(ctx, manifest, repository.Reference.Reference)
	}
	if err != nil {
		t.Fatal(err)
	}
}
