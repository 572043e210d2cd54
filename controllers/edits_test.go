// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
)

// An edit that was reverted, and is made again, waits for SettleDelay again.
func TestAnEditThatComesBackWaitsAgain(t *testing.T) {
	const before = "argocd:gold nginx:silver"
	e, good := publishGuarded(t, before, tierRefs("gold", "silver"))
	e.reconciler.settleDelay = 30 * time.Second
	e.edit(tierRefs("gold"))
	e.equal("conditions", conditionsOf(e.reconcile("kkp")), []string{"Ready=Unknown SourcesUnsettled", "Reconciling=True SourcesUnsettled"})
	e.source(applications(t, "argocd:gold"))
	e.edit(tierRefs("gold", "silver")) // taken back, while the catalog lost nginx by mistake: held
	e.hold(good, "Removal")
	e.passed += time.Hour
	// One pull request: the tag v3 renames the tier, and the selection follows. The selection arrives first.
	e.edit(tierRefs("gold"))
	e.source(applications(t, before))
	e.equal("Ready", conditions.GetReason(e.reconcile("kkp"), meta.ReadyCondition), "SourcesUnsettled")
	e.untouchedArtifact(good)
}
