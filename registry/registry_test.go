// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/winnow-dev/winnow/registry"
)

// What goes on between clients and a real registry, the tests of controllers and of the command line
// show. These are about what a registry would not do.

func serve(t *testing.T, handler http.HandlerFunc) *remote.Repository {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	repository, err := remote.NewRepository(strings.TrimPrefix(server.URL, "http://") + "/catalog")
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	return repository
}

func TestWhatIsTooLargeIsNotRead(t *testing.T) {
	sum := digest.FromString("x")
	requests := 0
	from := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		requests++
		w.Header().Set("Content-Type", v1.MediaTypeImageManifest)
		w.Header().Set("Docker-Content-Digest", sum.String())
		w.Header().Set("Content-Length", fmt.Sprint(registry.MaxManifest+1))
	})
	var large *registry.TooLargeError
	if _, _, err := registry.FetchManifest(t.Context(), from, sum.String()); !errors.As(err, &large) || large.Size != registry.MaxManifest+1 {
		t.Errorf("FetchManifest() = %v", err)
	}
	layer := v1.Descriptor{MediaType: v1.MediaTypeImageLayerGzip, Digest: sum, Size: 11}
	if _, err := registry.FetchLayer(t.Context(), from, layer, 10); !errors.As(err, &large) || large.What != "layer" {
		t.Errorf("FetchLayer() = %v", err)
	}
	if requests != 1 {
		t.Errorf("%d requests, want that of the manifest alone", requests)
	}
}

func TestPackIsAFunctionOfItsArguments(t *testing.T) {
	layer := registry.NewBlob(v1.MediaTypeImageLayerGzip, []byte("layer"))
	want := ""
	for range 20 {
		a, err := registry.Pack("application/vnd.example", layer, map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"})
		if err != nil {
			t.Fatal(err)
		}
		got := a.Manifest.Descriptor.Digest.String()
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("digest is %s, then %s", want, got)
		}
	}
}

// A registry that has everything, and a tag of somebody else's.
func TestATagIsMovedOnlyWhereThatIsAllowed(t *testing.T) {
	refused := errors.New("not yours")
	for _, test := range []struct {
		name string
		move func(context.Context, string, v1.Descriptor) error
		want error
		puts []string
	}{
		{"nobody asks", nil, nil, []string{"PUT theirs", "PUT last"}},
		{"allowed", func(context.Context, string, v1.Descriptor) error { return nil }, nil, []string{"PUT theirs", "PUT last"}},
		{"refused", func(context.Context, string, v1.Descriptor) error { return refused }, refused, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, err := registry.Pack("application/vnd.example", registry.NewBlob(v1.MediaTypeImageLayerGzip, []byte("layer")), nil)
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			var puts []string
			to := serve(t, func(w http.ResponseWriter, r *http.Request) {
				reference := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
				digests := map[string]string{"mine": a.Manifest.Descriptor.Digest.String(), "theirs": digest.FromString("theirs").String()}
				mu.Lock()
				defer mu.Unlock()
				switch {
				case r.Method == http.MethodPut:
					puts = append(puts, "PUT "+reference)
					w.WriteHeader(http.StatusCreated)
				case reference == "last":
					w.WriteHeader(http.StatusNotFound)
				default:
					w.Header().Set("Content-Type", v1.MediaTypeImageManifest)
					w.Header().Set("Content-Length", "5")
					w.Header().Set("Docker-Content-Digest", digests[reference])
				}
			})
			err = registry.Pusher{Move: test.move}.Push(t.Context(), to, a, []string{"mine", "theirs", "last"})
			if !errors.Is(err, test.want) || err != nil && !strings.HasPrefix(err.Error(), "setting the tag theirs, after mine: ") {
				t.Errorf("Push() = %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(puts, test.puts) {
				t.Errorf("requests are %q, want %q", puts, test.puts)
			}
		})
	}
}
