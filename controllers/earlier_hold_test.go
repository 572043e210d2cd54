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
	empty := func(t *testing.T) (*environment, lastGood) {
		e, good := publishGuarded(t, "argocd nginx")
		e.edit(tierRefs("none"))
		e.hold(good, "Removal")
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
	t.Run("while an edit is fresh", func(t *testing.T) {
		e, good := empty(t)
		e.events.take()
		e.reconciler.settleDelay = 30 * time.Second
		e.edit(limited("argocd"))
		e.reconcile("kkp")
		undecided(e, "SourcesUnsettled")
		e.equal("events", e.events.take(), []string(nil))
		e.untouchedArtifact(good)
		e.pass(30 * time.Second)
		e.equal("lost", lost(e.hold(good, "Removal")), []string{"Removal nginx 1.0.0"})
		e.equal("events afterwards", e.events.take(), warned("Removal"))
	})
	t.Run("while a source is gone", func(t *testing.T) {
		e, good := empty(t)
		e.setArtifact("OCIRepository", e.key("catalog"), nil)
		e.reconcile("kkp")
		e.equal("Held of the same spec", conditions.GetReason(e.get("kkp"), v1alpha1.HeldCondition), "Removal")
		e.edit(without("nginx"))
		held := conditions.Get(e.reconcile("kkp"), v1alpha1.HeldCondition)
		if held.Reason != "Removal" || held.ObservedGeneration == e.get("kkp").Generation {
			t.Errorf("without a render of the new spec, Held is %+v", held)
		}
		e.untouchedArtifact(good)
	})
}
