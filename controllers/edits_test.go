// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// An edit that was reverted, and is made again, waits for SettleDelay again.
func TestAnEditThatComesBackWaitsAgain(t *testing.T) {
	const before = "argocd:gold nginx:silver"
	e, good := publishGuarded(t, before, tierRefs("gold", "silver"))
	e.reconciler.settleDelay = 30 * time.Second
	e.edit(tierRefs("gold"))
	e.equal("conditions", conditionsOf(e.reconcile("kkp")), []string{"Held=Unknown SourcesUnsettled", "Ready=Unknown SourcesUnsettled", "Reconciling=True SourcesUnsettled"})
	e.source(applications(t, "argocd:gold"))
	e.edit(tierRefs("gold", "silver")) // taken back, while the catalog lost nginx by mistake: held
	e.reconcile("kkp")
	e.pass(time.Hour)
	e.hold(good, "Removal")
	// One pull request: the tag v3 renames the tier, and the selection follows. The selection arrives first.
	e.edit(tierRefs("gold"))
	e.source(applications(t, before))
	e.equal("Ready", conditions.GetReason(e.reconcile("kkp"), meta.ReadyCondition), "SourcesUnsettled")
	e.untouchedArtifact(good)
}

// Nothing is decided yet about a render that waits, also where the selection has no condition.
func TestAFreshEditIsHeldUnknownAtFirst(t *testing.T) {
	cs := &v1alpha1.CatalogSelection{}
	decide(&unsettledError{"it waits", time.Second}, cs, false).report(cs)
	if held := conditions.Get(cs, v1alpha1.HeldCondition); held.Status != "Unknown" || held.Reason != "SourcesUnsettled" {
		t.Errorf("Held is %v", held)
	}
}

// A selection that is deleted while its first download hangs leaves nothing in memory.
func TestNoEditOfADeletedSelectionIsKept(t *testing.T) {
	e := newEnvironment(t)
	runManager(e)
	host, arrived := hangingRegistry(t)
	e.hangingSelection(host, "hanging")
	<-arrived
	noted := func() int {
		e.reconciler.edits.mu.Lock()
		defer e.reconciler.edits.mu.Unlock()
		return len(e.reconciler.edits.seen)
	}
	e.until("the edit is noted", time.Minute, func() bool { return noted() == 1 })
	e.remove(e.get("hanging"))
	e.until("the edit is forgotten", 20*time.Second, func() bool { return noted() == 0 })
}
