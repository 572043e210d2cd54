// SPDX-License-Identifier: Apache-2.0

package push_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

const (
	pushedDir    = "../../../../examples/catalog"
	emptyConfig  = "push/blobs/sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
	manifestPath = "push/manifests/"
)

// pushTo pushes the example to a registry behind handler.
func pushTo(ctx context.Context, t *testing.T, handler http.Handler, args ...string) clitest.Execution {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	where := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/push"
	return clitest.Execute(ctx, append([]string{"push", "--plain-http", pushedDir, where}, args...)...)
}

// writtenTo returns the writes to a registry, with a name for the layer.
func writtenTo(r *clitest.Registry) []string {
	written := r.Written()
	for i, path := range written {
		if path != emptyConfig && strings.HasPrefix(path, "push/blobs/") {
			written[i] = "layer"
		}
		if strings.HasPrefix(path, manifestPath+"sha256:") {
			written[i] = "manifest"
		}
	}
	return written
}

func TestPushUploadsWhatTheRegistryLacks(t *testing.T) {
	r := clitest.NewRegistry(t, nil)
	for _, step := range []struct {
		name string
		args []string
		want []string
	}{
		{"everything, the tags at last", []string{"--tag", "b", "--tag", "a"}, []string{emptyConfig, "layer", "manifest", manifestPath + "b", manifestPath + "a"}},
		{"nothing again", []string{"--tag", "a"}, nil},
		{"a tag alone", []string{"--tag", "a", "--tag", "c"}, []string{manifestPath + "c"}},
		{"a manifest alone", []string{"--tag", "c", "--annotation", "k=v"}, []string{"manifest", manifestPath + "c"}},
	} {
		t.Run(step.name, func(t *testing.T) {
			if got := pushTo(t.Context(), t, r, step.args...); got.Code != root.ExitOK {
				t.Fatal(got.Stderr)
			}
			if got := writtenTo(r); !slices.Equal(got, step.want) {
				t.Errorf("written %q, want %q", got, step.want)
			}
		})
	}
}

// A retry sends the whole body again.
func TestPushTriesAgain(t *testing.T) {
	r := clitest.NewRegistry(t, nil)
	var failures atomic.Int32
	got := pushTo(t.Context(), t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPut && failures.Add(1)%2 == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		r.ServeHTTP(w, req)
	}), "--tag", "v1")
	if got.Code != root.ExitOK {
		t.Fatal(got.Stderr)
	}
	want := []string{emptyConfig, "layer", "manifest", manifestPath + "v1"}
	if got := writtenTo(r); !slices.Equal(got, want) {
		t.Errorf("written %q, want %q", got, want)
	}
	if failures.Load() != int32(2*len(want)) {
		t.Errorf("%d tries", failures.Load())
	}
}

// The error names the tags that are already set.
func TestPushFailsAtATag(t *testing.T) {
	r := clitest.NewRegistry(t, nil)
	got := pushTo(t.Context(), t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPut && strings.HasSuffix(req.URL.Path, "/v2") {
			w.WriteHeader(http.StatusConflict)
			return
		}
		r.ServeHTTP(w, req)
	}), "--tag", "v1", "--tag", "v2", "--tag", "v3")
	if got.Code != root.ExitFailed || got.Stdout != "" || !strings.Contains(got.Stderr, "/push: setting the tag v2, after v1: PUT ") {
		t.Errorf("got %+v", got)
	}
	if want := []string{emptyConfig, "layer", "manifest", manifestPath + "v1"}; !slices.Equal(writtenTo(r), want) {
		t.Errorf("want %q", want)
	}
}

// Without its layer, a catalog gets neither manifest nor tag.
func TestPushInterrupted(t *testing.T) {
	r := clitest.NewRegistry(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	got := pushTo(ctx, t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPut && req.ContentLength > 100 {
			_, _ = io.Copy(io.Discard, req.Body) // the server only then notices that the client has closed the connection
			cancel()
			<-req.Context().Done()
			return
		}
		r.ServeHTTP(w, req)
	}), "--tag", "v1")
	if want := (clitest.Execution{Code: root.ExitFailed, Stderr: "winnow: interrupted\n"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if want := []string{emptyConfig}; !slices.Equal(writtenTo(r), want) {
		t.Errorf("want %q", want)
	}
}

// The guide shows the output of a push of the example.
func TestDocumentedPush(t *testing.T) {
	got := pushTo(t.Context(), t, clitest.NewRegistry(t, nil), "--tag", "v1.1.0")
	_, digest, ok := strings.Cut(got.Stdout, "@")
	guide := clitest.ReadFile(t, "../../../../docs/guides/publishing.md")
	if !ok || !strings.Contains(guide, "\n"+got.Stderr) || !strings.Contains(guide, "@"+digest) {
		t.Errorf("the guide has not what is printed:\n%s%s", got.Stderr, got.Stdout)
	}
}
