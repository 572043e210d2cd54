// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/conditions"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
			c.passed += time.Hour
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

// While it is not decided whether another selection takes an object over, the artifact has a placeholder, and the
// condition names the selection and the end of the wait.
func TestAnUndecidedObjectStaysInTheArtifact(t *testing.T) {
	c := moving(t)
	n := c.neighbor()
	n.selection("tenant", compared, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "none" })
	c.change("alpha", without("argocd", "nginx"))
	c.rounds("beta", "alpha")
	_, _ = n.tryReconcile("tenant")
	c.rounds("beta", "alpha")
	c.ready("alpha")
	applied, placeholders := c.contents()
	c.equal("the artifact", []any{applied, placeholders}, []any{[]string{"falco"}, []string{"argocd"}})
	end := c.now().Add(10 * time.Minute).UTC().Format(time.RFC3339)
	c.mentions("Kept", c.keptBy("alpha"), "argocd", n.namespace+"/tenant", end)
	c.fluxAlpha()
	c.unchangedFor("alpha")

	n.remove(n.get("tenant")) // the tenant cannot receive it any more
	_, _ = n.tryReconcile("tenant")
	c.rounds("alpha")
	c.fluxAlpha()
	c.equal("the removed definition", c.kept("argocd"), "gone")
	c.rounds("alpha")
	c.equal("Kept at the end", c.keptBy("alpha"), "")
}

// Another client has changed the selection meanwhile, so that the publication is tried again.
func TestAConflictWhileAnObjectStaysForgetsNothing(t *testing.T) {
	c := moving(t)
	n := c.neighbor()
	n.selection("tenant", compared, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "none" })
	c.change("alpha", without("argocd", "nginx"))
	c.rounds("alpha")
	_, _ = n.tryReconcile("tenant")
	c.rounds("beta")
	refused := 0
	c.traffic.before = func(write string, object client.Object) error {
		if write == "patch CatalogSelection/status" && object.GetName() == "alpha" && refused == 0 {
			refused++
			return apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("catalogselections").GroupResource(), "alpha", errUnavailable)
		}
		return nil
	}
	c.rounds("alpha")
	c.equal("refused writes", refused, 1)
	applied, placeholders := c.contents()
	c.equal("the artifact", []any{applied, placeholders}, []any{[]string{"falco"}, []string{"argocd"}})
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

// unappliable returns alpha without the right to mark, which gives argocd to beta, whose Kustomization never applies it.
func unappliable(t *testing.T) *liveCluster {
	t.Helper()
	c := moving(t)
	c.runAs(read(platformGroup, "applicationdefinitions"), readKustomizations())
	c.change("beta", without("falco"))
	c.change("alpha", without("argocd", "nginx"))
	c.rounds("beta", "alpha")
	c.equal("conditions of the giver", conditionsOf(c.get("alpha")), []string{"Ready=Unknown Handover", "Reconciling=True Handover"})
	c.mentions("Ready", c.message("alpha"), "argocd", c.namespace+"/beta")
	c.passed += 11 * time.Minute
	c.rounds("alpha")
	c.fluxAlpha()
	return c
}

// Without the right to mark, an object that another selection is able to apply stays in the publication when the time is
// over, and the rest goes on.
func TestWhatMayNotBeMarkedStaysInThePublication(t *testing.T) {
	c := unappliable(t)
	c.ready("alpha")
	c.equal("what alpha publishes", c.publishedByAlpha(), "falco")
	c.mentions("Kept", c.keptBy("alpha"), "argocd", c.namespace+"/beta", "may not be marked")
	c.equal("the definition lives", c.live("argocd") != nil, true)

	c.catalog("argocd", "nginx", "falco", "loki") // the rest goes on, also later
	c.change("beta", without("falco", "loki"))
	c.rounds("alpha")
	c.fluxAlpha()
	c.ready("alpha")
	c.equal("what alpha publishes later", c.publishedByAlpha(), "falco loki")
	c.equal("the definition lives still", c.live("argocd") != nil, true)

	c.rounds("beta", "alpha")
	c.flux("beta", "beta", "argocd", "nginx")
	c.rounds("alpha", "beta")
	c.fluxAlpha()
	c.ready("alpha", "beta")
	c.equal("the definition that beta has applied", c.live("argocd") != nil, true)
	_, placeholders := c.contents()
	c.equal("placeholders at the end", placeholders, []string(nil))
	c.equal("Kept at the end", c.keptBy("alpha"), "")
}

// The storage is empty after a restart in many installations. An archive with placeholders is rendered again as well.
func TestAnArtifactWithAPlaceholderIsRenderedAgain(t *testing.T) {
	c := unappliable(t)
	announced := c.announced("alpha")
	c.change("alpha", limited("none")) // selects nothing, and is held
	c.emptyStorage()
	c.restart()
	c.rounds("alpha")
	c.equal("Held", conditions.GetReason(c.get("alpha"), v1alpha1.HeldCondition), "Removal")
	c.equal("the artifact", c.announced("alpha").Status.Artifact.Digest, announced.Status.Artifact.Digest)
	_, placeholders := c.contents()
	c.equal("placeholders", placeholders, []string{"argocd"})
}

// status.leaving is bounded. What does not fit waits without being published, and is not lost.
func TestMoreObjectsLeaveThanTheStatusLists(t *testing.T) {
	c := newCluster(t)
	var names []string
	for i := range 110 {
		names = append(names, fmt.Sprintf("app-%03d", i))
	}
	c.catalog(append(names, "rest")...)
	c.selection("alpha", compared)
	c.consumer("alpha", "alpha", pruning)
	c.settle("alpha")
	c.fluxAlpha()
	c.settle("alpha")
	n := c.neighbor()
	n.selection("tenant", compared, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "none" })
	_, _ = n.tryReconcile("tenant")
	c.change("alpha", without(names...))
	c.rounds("alpha")
	c.equal("conditions", conditionsOf(c.get("alpha")), []string{"Ready=Unknown Handover", "Reconciling=True Handover"})
	c.equal("listed", len(c.get("alpha").Status.Leaving), 100)
	c.passed += 11 * time.Minute
	c.rounds("alpha")
	c.ready("alpha")
	c.fluxAlpha()
	c.equal("the removed definition", c.kept("app-109"), "gone")
}
