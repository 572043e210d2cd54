// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"net/http"
	"testing"
)

func TestStoppingTheControllerDoesNotChangeTheStatus(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	e.publish("kkp")
	artifact := e.source(applications(t, "argocd nginx"))
	before := e.get("kkp")
	ctx, cancel := context.WithCancel(t.Context())
	e.sources.Handle("/"+artifact.Path, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if _, err := e.reconcileIn(ctx, "kkp"); !errors.Is(err, context.Canceled) {
		t.Errorf("Reconcile() = %v", err)
	}
	e.equal("the selection", e.get("kkp"), before)
}
