// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// A hold is of the spec that it was decided for.
func TestTheHoldOfAnEarlierSpec(t *testing.T) {
	everything := func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = []string{"argocd", "nginx"} }
	empty := func(t *testing.T) (*environment, lastGood) {
		e, good := publishGuarded(t, "argocd nginx")
		e.edit(everything)
		e.hold(good, "EmptyResult")
		return e, good
	}
	undecided := func(e *environment, reason string) {
		e.Helper()
		cs := e.get("kkp")
		held := conditions.Get(cs, v1alpha1.HeldCondition)
		if held.Status != "Unknown" || held.Reason != reason || held.ObservedGeneration != cs.Generation ||
			!strings.HasPrefix(held.Message, "whether a change of this spec is held is not decided yet: ") {
			e.Errorf("Held is %+v", held)
		}
	}
	t.Run("while an edit waits for its sources", func(t *testing.T) {
		e, good := empty(t)
		e.reconciler.settleDelay = 30 * time.Second
		e.edit(without("nginx"))
		e.reconcile("kkp")
		undecided(e, "SourcesUnsettled")
		e.untouchedArtifact(good)
		e.reconcile("kkp")
		undecided(e, "SourcesUnsettled")
		e.passed += 31 * time.Second
		cs, _ := e.publish("kkp")
		e.equal("Held", conditions.GetReason(cs, v1alpha1.HeldCondition), "NothingHeld")
	})
	t.Run("while a source is gone", func(t *testing.T) {
		e, good := empty(t)
		e.setArtifact("OCIRepository", e.key("catalog"), nil)
		e.reconcile("kkp")
		e.equal("Held of the same spec", conditions.GetReason(e.get("kkp"), v1alpha1.HeldCondition), "EmptyResult")
		e.edit(without("nginx"))
		held := conditions.Get(e.reconcile("kkp"), v1alpha1.HeldCondition)
		if held.Reason != "EmptyResult" || held.ObservedGeneration == e.get("kkp").Generation {
			t.Errorf("without a render of the new spec, Held is %+v", held)
		}
		e.untouchedArtifact(good)
	})
	t.Run("whose approval comes too late", func(t *testing.T) {
		e, _ := publishGuarded(t, "argocd nginx falco")
		second := e.source(applications(t, "argocd nginx"))
		e.reconcile("kkp")
		e.reconciler.settleDelay = 30 * time.Second
		e.edit(without("nginx"))
		e.source(applications(t, "argocd nginx falco velero"))
		e.reconcile("kkp")
		undecided(e, "SourcesUnsettled")
		e.approve(second.Digest)
		e.passed += 31 * time.Second
		good := e.good()
		e.source(applications(t, "argocd nginx"))
		e.hold(good, "Removal")
	})
}
