// SPDX-License-Identifier: Apache-2.0

package pushes

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/winnow-dev/winnow/controllers/memory"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// archived returns an artifact in a file.
func archived(t *testing.T) *os.File {
	t.Helper()
	job, content := imageJob(t, "archive")
	if err := os.WriteFile(job.file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(job.file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// Kustomize cannot be interrupted. A build that takes longer than the timeout of a push goes on aside, with its memory, and
// the next one waits for it.
func TestABuildOfPatchesObeysTheTimeoutOfAPush(t *testing.T) {
	file := archived(t)
	synctest.Test(t, func(t *testing.T) {
		p := newPushes(Options{})
		var slow sync.Once
		p.readArtifact = func(context.Context, io.Reader) ([]safeguard.Definition, error) {
			slow.Do(func() { time.Sleep(278 * time.Second) }) // as measured with 10,000 documents
			return nil, nil
		}
		begin := time.Now()
		read := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), pushTimeout)
			defer cancel()
			_, err := p.read(ctx, file)
			return err
		}
		if err := read(); err == nil || !strings.Contains(err.Error(), "takes longer than 2m0s") {
			t.Errorf("read() = %v", err)
		}
		if took := time.Since(begin); took != pushTimeout {
			t.Errorf("read() took %s", took)
		}
		var busy *busyError
		if err := read(); !errors.As(err, &busy) {
			t.Errorf("read() = %v while another artifact is read", err)
		}
		if err := read(); err != nil {
			t.Errorf("read() = %v", err)
		}
		if _, err := p.reading.Acquire(t.Context(), memory.LoadBytes); err != nil || !p.comparing.TryAcquire(1) {
			t.Errorf("the memory or the turn is not released: %v", err)
		}
	})
}

// What is compared takes memory of the loads.
func TestAComparisonWaitsForMemory(t *testing.T) {
	file := archived(t)
	synctest.Test(t, func(t *testing.T) {
		p := newPushes(Options{})
		p.readArtifact = func(context.Context, io.Reader) ([]safeguard.Definition, error) { return nil, nil }
		release, err := p.reading.Acquire(t.Context(), memory.LoadBytes)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), pushTimeout)
		defer cancel()
		var busy *busyError
		if _, err := p.read(ctx, file); !errors.As(err, &busy) {
			t.Errorf("read() = %v without memory", err)
		}
		release()
		if _, err := p.read(t.Context(), file); err != nil {
			t.Errorf("read() = %v", err)
		}
	})
}
