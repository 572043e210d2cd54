// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// keptBy returns the message of the condition Kept, empty without it.
func (c *liveCluster) keptBy(name string) string {
	c.Helper()
	return conditions.GetMessage(c.get(name), v1alpha1.KeptCondition)
}

func (c *liveCluster) mentions(what, text string, parts ...string) {
	c.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			c.Errorf("%s does not mention %q: %q", what, part, text)
		}
	}
}

// A marked object that left the artifact is in a condition until somebody decides on it: Flux has forgotten it.
func TestAKeptObjectIsInAConditionUntilItIsAppliedOrDeleted(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(c *liveCluster)
	}{
		{"applied by the receiver", func(c *liveCluster) { c.flux("beta", "beta", "argocd", "nginx") }},
		{"deleted by hand", func(c *liveCluster) { c.remove(c.live("argocd")) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := moving(t)
			c.handOver()
			c.flux("alpha", "alpha", "falco")
			c.pass(time.Hour)
			c.rounds("alpha")
			c.ready("alpha")
			c.mentions("Kept", c.keptBy("alpha"), "argocd", "by hand")
			c.equal("the reason", conditions.GetReason(c.get("alpha"), v1alpha1.KeptCondition), "Handover")
			c.mentions("Ready", c.message("alpha"), "see Kept")
			test.end(c)
			c.rounds("beta", "alpha")
			c.equal("Kept at the end", c.keptBy("alpha"), "")
			c.equal("Kept of the receiver", c.keptBy("beta"), "")
		})
	}
}

// While it is not decided whether another selection takes an object over, the publication waits, and names the selection.
func TestAnUndecidedObjectStaysInTheArtifact(t *testing.T) {
	c := moving(t)
	n := c.neighbor()
	n.selection("tenant", compared, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "none" })
	c.change("alpha", without("argocd", "nginx"))
	c.rounds("beta", "alpha")
	_, _ = n.tryReconcile("tenant")
	c.rounds("beta", "alpha")
	c.equal("conditions of alpha", conditionsOf(c.get("alpha")), []string{"Ready=Unknown Handover", "Reconciling=True Handover"})
	c.mentions("Ready", c.message("alpha"), n.namespace+"/tenant", "10m")
	c.equal("what alpha publishes", c.publishedByAlpha(), "argocd")
	c.unchangedFor("alpha")

	n.remove(n.get("tenant")) // the tenant cannot receive it any more
	c.awaitCaches()
	c.rounds("alpha")
	c.ready("alpha")
	c.fluxAlpha()
	c.equal("the removed definition", c.kept("argocd"), "gone")
}

// unchangedFor expects that a repetition writes nothing, though it looks again soon.
func (c *liveCluster) unchangedFor(name string) {
	c.Helper()
	c.settle(name)
	version := c.get(name).ResourceVersion
	c.traffic.taken()
	result, err := c.tryReconcile(name)
	if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > time.Minute {
		c.Errorf("Reconcile() = %+v, %v", result, err)
	}
	c.equal("the selection after a repetition", c.get(name).ResourceVersion, version)
	c.equal("writes of a repetition", c.traffic.taken(), []string(nil))
}

// unmarkable returns alpha without the right to mark, which gives argocd to beta.
func unmarkable(t *testing.T) *liveCluster {
	t.Helper()
	c := moving(t)
	c.markWithout()
	c.change("beta", without("falco"))
	c.change("alpha", without("argocd", "nginx"))
	c.rounds("beta", "alpha")
	c.ready("alpha")
	c.equal("conditions of the receiver", conditionsOf(c.get("beta")), stalled("Conflict"))
	return c
}

// Without the right to mark, an object that another selection claims stays in the publication until Flux has applied the annotation
// of the artifact, and the rest goes on.
func TestWhatMayNotBeMarkedStaysInThePublication(t *testing.T) {
	c := unmarkable(t)
	c.equal("what alpha publishes", c.publishedByAlpha(), "argocd falco")
	c.mentions("Kept", c.keptBy("alpha"), "argocd", c.namespace+"/beta", "may not be marked")
	c.catalog("argocd", "nginx", "falco", "loki") // the rest goes on, also later
	c.change("beta", without("falco", "loki"))
	c.rounds("beta", "alpha")
	c.ready("alpha")
	c.equal("what alpha publishes later", c.publishedByAlpha(), "argocd falco loki")
	c.flux("alpha", "alpha", "argocd", "falco", "loki")
	c.annotate("argocd", pruneAnnotation, disabled) // as the artifact has it
	c.rounds("alpha", "beta")
	c.ready("alpha", "beta")
	c.equal("what alpha publishes at last", c.publishedByAlpha(), "falco loki")
	c.flux("alpha", "alpha", "falco", "loki")
	c.flux("beta", "beta", "argocd", "nginx")
	c.rounds("alpha", "beta")
	c.equal("the definition that beta has applied", c.live("argocd") != nil, true)
	c.equal("Kept at the end", c.keptBy("alpha"), "")
}

// The storage is empty after a restart in many installations. An archive with what stays is rendered again as well.
func TestAnArtifactWithAKeptObjectIsRenderedAgain(t *testing.T) {
	c := unmarkable(t)
	announced := c.announced("alpha")
	c.change("alpha", limited("none")) // selects nothing, and is held
	c.emptyStorage()
	c.restart()
	c.rounds("alpha")
	c.equal("Held", conditions.GetReason(c.get("alpha"), v1alpha1.HeldCondition), "Removal")
	c.equal("the artifact", c.announced("alpha").Status.Artifact.Digest, announced.Status.Artifact.Digest)
	c.equal("what alpha publishes", c.publishedByAlpha(), "argocd falco")
}

// argocd has left alpha for beta, which does not select it any more, and the status of alpha is lost: what alpha publishes is not known.
func TestWhatHasLeftKeepsItsMarkWithoutARecord(t *testing.T) {
	c := moving(t)
	c.handOver()
	c.flux("alpha", "alpha", "falco")
	c.change("beta", without("argocd", "falco"))
	c.rounds("beta")
	c.equal("the mark", c.kept("argocd"), disabled)
	c.wipe("alpha")
	c.restart()
	c.change("alpha", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.Approve = []string{"argocd:live"} })
	c.rounds("alpha", "beta")
	c.equal("the mark without a status", c.kept("argocd"), disabled)
}

// The status of alpha is lost, and it renders nothing any more: the kinds of what leaves are known by the inventory alone.
func TestWhatLeavesAnEmptyRenderWithoutAStatusIsMarked(t *testing.T) {
	c := moving(t)
	c.change("beta", without("falco"))
	c.change("alpha", without("argocd", "nginx", "falco"))
	c.wipe("alpha")
	c.restart()
	c.rounds("beta", "alpha")
	c.equal("what alpha publishes", c.publishedByAlpha(), "")
	c.equal("the mark", c.kept("argocd"), disabled)
}
