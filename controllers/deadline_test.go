// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/source"
)

func TestAPublicationThatTakesTooLongEndsAsACondition(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	_, announced := e.publish("kkp")
	served := e.download(announced)
	artifact := e.source(applications(t, "argocd nginx"))
	e.sources.Handle("/"+artifact.Path, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })

	e.reconciler.loader.Timeout = 200 * time.Millisecond
	// The error makes the queue retry with backoff. The controller does not stop.
	if _, err := e.tryReconcile("kkp"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Reconcile() = %v", err)
	}
	cs := e.get("kkp")
	e.equal("conditions", conditionsOf(cs), retried("TimedOut"))
	message := conditions.GetMessage(cs, meta.ReadyCondition)
	for _, part := range []string{"longer than 200ms", "fetching the artifact of source " + e.namespace + "/catalog", "spec.sources[].path"} {
		if !strings.Contains(message, part) {
			t.Errorf("the message lacks %q: %s", part, message)
		}
	}
	e.equal("the ExternalArtifact", e.announced("kkp"), announced)
	if !bytes.Equal(e.download(announced), served) {
		t.Error("the last good artifact is not served any more")
	}

	e.reconciler.loader.Timeout = source.DefaultLoadTimeout
	e.source(applications(t, "argocd nginx"))
	e.publish("kkp")
}

// A worker is free for others soon after publishTimeout, whatever the patches would still take.
func TestPatchesThatTakeTooLongEndAsACondition(t *testing.T) {
	e := newEnvironment(t)
	var names strings.Builder
	for i := range 2_000 {
		fmt.Fprintf(&names, "app%d ", i)
	}
	e.source(applications(t, names.String()))
	e.selection("kkp", func(cs *v1alpha1.CatalogSelection) {
		for i := range 10 {
			cs.Spec.Patches = append(cs.Spec.Patches, kustomize.Patch{
				Patch: fmt.Sprintf("- {op: add, path: /spec/x%d, value: y}", i), Target: &kustomize.Selector{Kind: "ApplicationDefinition"},
			})
		}
	})
	e.reconciler.publishTimeout = 3 * time.Second
	start := time.Now()
	if _, err := e.tryReconcile("kkp"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Reconcile() = %v", err)
	}
	took := time.Since(start)
	e.equal("conditions", conditionsOf(e.get("kkp")), retried("TimedOut"))
	if message := conditions.GetMessage(e.get("kkp"), meta.ReadyCondition); !strings.Contains(message, "building with the patches") {
		t.Errorf("the timeout ended another step: %s", message)
	}
	if t.Logf("the reconciliation, with the download, took %s", took); took > 20*time.Second {
		t.Error("the patches were built on after the timeout")
	}
}
