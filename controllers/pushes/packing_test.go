// SPDX-License-Identifier: Apache-2.0

package pushes

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
)

// imageJob returns a job that pushes an image, and the archive that its file should have.
func imageJob(t *testing.T, file string) (pushJob, []byte) {
	t.Helper()
	files := tree.New()
	if err := files.Add("configs/orchard/catalog.yaml", []byte("schema: olm.package\nname: orchard\n")); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := archive.Write(&packed, files); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), file)
	return pushJob{file: path, digest: digest.FromBytes(packed.Bytes()).String(), selection: "ns/" + file, image: true}, packed.Bytes()
}

// waits reports whether packing a job waits until another image is packed.
func waits(t *testing.T, p *Pushes, job pushJob) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := p.pack(ctx, job)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	return err != nil
}

// Memory for packing is that of one image, whatever the number of workers is. What is no image needs none of it.
func TestOneImageIsPackedAtATime(t *testing.T) {
	p := newPushes(Options{})
	second, content := imageJob(t, "second")
	if err := os.WriteFile(second.file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	first, content := imageJob(t, "first")
	if err := syscall.Mkfifo(first.file, 0o600); err != nil {
		t.Fatal(err)
	}
	packed := make(chan error)
	go func() {
		_, err := p.pack(t.Context(), first)
		packed <- err
	}()
	reading, err := os.OpenFile(first.file, os.O_WRONLY, 0) // once pack has opened it
	if err != nil {
		t.Fatal(err)
	}
	if !waits(t, p, second) {
		t.Error("two images are packed at a time")
	}
	artifact := second
	artifact.image = false
	if waits(t, p, artifact) {
		t.Error("an artifact waits for an image")
	}
	if _, err := reading.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := reading.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-packed; err != nil {
		t.Error(err)
	}
	if waits(t, p, second) {
		t.Error("an image waits for one that is packed")
	}
}

func TestARegistryThatHangsBlocksNoPacking(t *testing.T) {
	hangs := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		hangs <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	job, content := imageJob(t, "first")
	if err := os.WriteFile(job.file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	job.access = registries.Access{URL: "oci://" + strings.TrimPrefix(server.URL, "http://") + "/operators", Insecure: true}
	ctx, cancel := context.WithCancel(t.Context())
	p := newPushes(Options{Registries: registries.New(nil, 0)})
	pushed := make(chan error)
	go func() {
		_, err := p.push(ctx, types.NamespacedName{Name: "first"}, job)
		pushed <- err
	}()
	<-hangs
	if waits(t, p, job) {
		t.Error("an image waits for one that is sent")
	}
	cancel()
	if err := <-pushed; !errors.Is(err, context.Canceled) {
		t.Errorf("push() = %v", err)
	}
}
