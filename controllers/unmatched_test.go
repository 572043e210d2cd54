// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/render/mention"
)

// unmatched returns the condition Unmatched as "<reason> <message>", empty without one.
func unmatched(cs *v1alpha1.CatalogSelection) string {
	c := conditions.Get(cs, v1alpha1.UnmatchedCondition)
	if c == nil {
		return ""
	}
	return string(c.Status) + " " + c.Reason + ": " + c.Message
}

func tierRefs(tiers ...string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Limit = &v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: tiers}}
	}
}

func TestATypoInAnEditThatRemovesIsHeld(t *testing.T) {
	const words = "argocd:gold nginx:silver falco:bronze"
	e, good := publishGuarded(t, words, tierRefs("gold", "silver"))
	e.edit(tierRefs("gold", "sliver"))
	cs := e.hold(good, "Removal")
	e.equal("lost", lost(cs), []string{"Removal nginx 1.0.0"})
	e.equal("unmatched", unmatched(cs),
		`True NoMatch: nothing in the catalogs matches spec.limit.metadataSelector.tierRefs[1] "sliver" (did you mean "silver"?)`)
	e.edit(tierRefs("gold", "silver"))
	e.equal("the corrected selection", unmatched(e.good().cs), "")
}

func TestUnmatchedListsNamesWithoutAMatch(t *testing.T) {
	const message = `True NoMatch: nothing in the catalogs matches spec.exclude[0] "ngnix" (did you mean "nginx"?)`
	e, _ := publishGuarded(t, "argocd nginx", exclude("ngnix"))
	e.equal("unmatched", unmatched(e.get("kkp")), message)
	first := conditions.Get(e.get("kkp"), v1alpha1.UnmatchedCondition)
	e.equal("without another render", conditions.Get(e.reconcile("kkp"), v1alpha1.UnmatchedCondition), first)
	e.restart()
	e.equal("after a restart", conditions.Get(e.reconcile("kkp"), v1alpha1.UnmatchedCondition), first)
	e.source([]byte("this is no catalog"))
	e.equal("while the catalog is invalid", unmatched(e.reconcile("kkp")), message)
	e.source(applications(t, "argocd ngnix"))
	e.equal("of a render that is held", unmatched(e.reconcile("kkp")), "")
	e.source(applications(t, "argocd nginx"))
	e.equal("with the catalog of before", unmatched(e.reconcile("kkp")), message)
	e.edit(exclude("nginx"))
	e.equal("once it is corrected", unmatched(e.good().cs), "")
}

func TestUnmatchedExplainsAnEmptySelection(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd:gold nginx:silver"))
	e.selection("kkp", guarded, tierRefs("glod"))
	cs := e.reconcile("kkp")
	e.equal("conditions", conditionsOf(cs), stalled("EmptyResult"))
	const message = `nothing is selected; left out of 2 applications: 2 by limit.metadataSelector.tierRefs; nothing in the catalogs matches ` +
		`spec.limit.metadataSelector.tierRefs[0] "glod" (did you mean "gold"?)`
	e.equal("message", conditions.GetMessage(cs, meta.ReadyCondition), message)
	e.equal("unmatched", unmatched(cs),
		`True NoMatch: nothing in the catalogs matches spec.limit.metadataSelector.tierRefs[0] "glod" (did you mean "gold"?)`)
}

func TestTheMessageOfUnmatchedIsBounded(t *testing.T) {
	unmatched := make([]mention.Unmatched, 1000)
	for i := range unmatched {
		unmatched[i].Field, unmatched[i].Value = "spec.exclude", fmt.Sprintf("%s%d", strings.Repeat("x", 200), i)
	}
	message := (&unmatchedNames{unmatched}).condition().Message
	if len(message) > bounds.ConditionMessage || !strings.HasSuffix(message, " and 980 more") {
		t.Errorf("the message has %d bytes: %s", len(message), message)
	}
}
