// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

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
