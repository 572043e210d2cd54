// SPDX-License-Identifier: Apache-2.0

package pushes

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/opencontainers/go-digest"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/winnow-dev/winnow/controllers/memory"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/controllers/transfers"
)

// A panic fails one push, like a panic in a reconciliation: the queue continues, and the selection is enqueued
// to report the failure.
func TestAPanicFailsOnePush(t *testing.T) {
	file := filepath.Join(t.TempDir(), "archive.tar.gz")
	content := []byte("content")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	p := newPushes(Options{Queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]())})
	var enqueued []types.NamespacedName
	p.Enqueue = func(_ context.Context, keys ...types.NamespacedName) { enqueued = append(enqueued, keys...) }
	key := types.NamespacedName{Namespace: "ns", Name: "kkp"}
	access := registries.Access{URL: "oci://registry.example/rendered", SecretRef: &meta.LocalObjectReference{Name: "any"}}
	job := pushJob{access: access, file: file, digest: digest.FromBytes(content).String(), selection: key.String()}
	if _, done := p.enqueue(key, job); done {
		t.Fatal("a new job is done")
	}
	if !p.Next(t.Context()) { // panics, because the registries are nil
		t.Fatal("Next() = false")
	}
	result, done := p.enqueue(key, job)
	if !done || result.err == nil || !strings.Contains(result.err.Error(), "a bug in Winnow") || strings.Contains(result.err.Error(), "goroutine") {
		t.Errorf("the result is %v, %t", result.err, done)
	}
	if len(enqueued) != 1 || enqueued[0] != key {
		t.Errorf("enqueued %v", enqueued)
	}
}

// newPushes returns Pushes with what the options lack.
func newPushes(o Options) *Pushes {
	o.Failures, o.Memory = transfers.NewFailures(time.Now), memory.New(memory.LoadBytes)
	return New(o)
}
