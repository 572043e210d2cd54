// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// A bypassed definition moves, and its bypass ends before the Kustomization of the giver has applied the new
// artifact. The mark of the move stays, so that Flux does not delete it.
func TestABypassThatEndsWhileItMovesDeletesNothing(t *testing.T) {
	c := moving(t)
	c.bypass("argocd")
	c.rounds("alpha", "beta")
	c.handOver()
	c.ready("alpha", "beta")
	c.unlabel("argocd", v1alpha1.BypassLabel)
	c.rounds("alpha", "beta")
	c.flux("alpha", "alpha", "falco")
	if c.live("argocd") == nil {
		t.Error("argocd is deleted, and beta installs it again")
	}
}

// The giver has published without an application, and its Kustomization has not applied that yet. Another
// selection with the application then marks it.
func TestAReceiverMarksObjectsGivenUpBefore(t *testing.T) {
	c := moving(t)
	c.change("alpha", without("argocd", "nginx"))
	c.rounds("alpha", "beta")
	c.ready("alpha")
	c.change("beta", without("falco"))
	c.rounds("beta", "alpha")
	c.ready("beta")
	c.flux("alpha", "alpha", "falco") // resumed, or its dependencies are ready at last
	if c.live("argocd") == nil {
		t.Error("argocd is deleted, and beta installs it again")
	}
}

// Objects do not leave while the claims of a receiver are not those of its spec, and that is new.
func TestObjectsStayWhileTheRenderOfAReceiverIsNotKnown(t *testing.T) {
	for _, test := range []struct {
		name string
		beta func(*v1alpha1.CatalogSelection)
	}{
		{"because it is suspended while it is edited", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true }},
		{"because the same edit has a mistake", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Path = "no/such/path" }},
		{"because its source comes with the same commit", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "later" }},
		{"because it has a push and no Kustomization yet", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := moving(t)
			if test.beta != nil {
				c.change("beta", without("falco"))
				c.change("beta", test.beta)
			} else {
				c.selection("gamma", compared, without("nginx", "falco"), func(cs *v1alpha1.CatalogSelection) {
					cs.Spec.Push = &v1alpha1.Push{URL: "oci://127.0.0.1:1/x", Tags: []string{"v1"}}
				})
				_, _ = c.tryReconcile("gamma")
			}
			c.change("alpha", without("argocd", "nginx"))
			for range 3 {
				_, _ = c.tryReconcile("beta")
				_, _ = c.tryReconcile("gamma")
				_, _ = c.tryReconcile("alpha")
				c.awaitCaches()
			}
			c.equal("conditions of the giver", conditionsOf(c.get("alpha")), []string{"Ready=Unknown Handover", "Reconciling=True Handover"})
			c.equal("what alpha publishes", c.publishedByAlpha(), "argocd")
		})
	}
}

// The empty result of beta is held, but objects that leave alpha are not kept for it.
func TestASelectionOfNothingReceivesNothing(t *testing.T) {
	c := moving(t)
	c.change("beta", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit = &v1alpha1.Limit{Expression: "false"} })
	c.change("alpha", without("argocd", "nginx"))
	c.rounds("beta", "alpha", "beta", "alpha")
	c.ready("alpha")
	if held := c.get("beta").Status.Held; held == nil {
		t.Fatal("beta is not held, though it selects nothing")
	}
	c.flux("alpha", "alpha", "falco")
	if c.live("argocd") != nil {
		t.Error("argocd is kept for beta, which does not select it")
	}
}

// The record of a selection contains an artifact that is withheld until a consumer was compared, but the
// selection neither serves nor reserves the objects in it.
func TestAWithheldArtifactClaimsNothing(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd", "nginx", "falco")
	c.selection("gamma", guarded, compared, without("argocd", "falco"))
	c.settle("gamma")
	c.consumer("gamma", "", gitFed)
	c.flux("gamma", "other", "argocd")
	c.point("gamma", "gamma")
	c.settle("gamma")
	held := c.get("gamma").Status.Held
	if held == nil || len(held.Approve) != 1 {
		t.Fatalf("gamma is not held: %+v", held)
	}
	c.selection("alpha", compared, without("argocd", "falco"))
	c.consumer("alpha", "alpha", pruning)
	c.rounds("alpha", "gamma")
	c.ready("alpha")

	c.change("alpha", without("nginx", "falco")) // it waits for what gamma gives up
	c.change("gamma", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.Approve = held.Approve })
	c.rounds("alpha", "gamma")
	c.flux("gamma", "gamma", "nginx")
	if c.live("argocd") == nil {
		t.Error("argocd is deleted, and alpha installs it again")
	}
}

// A Kustomization gets another selection as its source, whose artifact is withheld until the inventory was
// compared. beta gets nothing meanwhile.
func TestASelectionWithANewNameGivesUpNothing(t *testing.T) {
	prefixed := func(ks *kustomizev1.Kustomization) { ks.Spec.NamePrefix = "pre-" }
	c := newCluster(t)
	c.catalog("argocd")
	for _, name := range []string{"alpha", "beta"} {
		c.selection(name, compared)
		c.consumer(name, name, pruning, prefixed)
		c.settle(name)
		if name == "alpha" {
			c.flux("alpha", "alpha", "pre-argocd")
			c.settle("alpha")
		}
	}
	c.equal("beta", conditionsOf(c.get("beta")), stalled("Conflict"))
	c.selection("alpha-2", compared)
	c.settle("alpha-2")
	c.point("alpha", "alpha-2")
	c.rounds("beta")
	c.equal("beta while alpha is renamed", conditionsOf(c.get("beta")), stalled("Conflict"))
}

// point sets the artifact of a selection as the source of a Kustomization.
func (c *liveCluster) point(kustomization, selection string) {
	c.Helper()
	ks := c.kustomization(kustomization)
	ks.Spec.SourceRef.Kind, ks.Spec.SourceRef.Name = sourcev1.ExternalArtifactKind, selection
	if err := apiServer.Update(c.Context(), ks); err != nil {
		c.Fatal(err)
	}
}

// One commit moves an application, and misspells its name in the receiver.
func TestWhatLeavesStaysWhileAReceiverHasATypo(t *testing.T) {
	names := func(names ...string) func(*v1alpha1.CatalogSelection) {
		return func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Exclude, cs.Spec.Limit = nil, &v1alpha1.Limit{NameSelector: names}
		}
	}
	for _, test := range []struct {
		name, receiver string
		selected       []string
	}{
		{"of one name among others", "beta", []string{"nginx", "argocdd"}},
		{"of all its names", "beta", []string{"argocdd"}},
		{"that is new", "gamma", []string{"falco", "argocdd"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := moving(t)
			if test.receiver == "gamma" {
				c.selection("gamma", compared, names(test.selected...))
				c.consumer("gamma", "gamma", pruning)
			} else {
				c.change(test.receiver, names(test.selected...))
			}
			c.rounds(test.receiver) // publishes the typo first
			c.restart()             // renders it again, when the last publication has the typo as well
			c.rounds(test.receiver)
			c.change("alpha", names("falco"))
			c.rounds("alpha", "beta", test.receiver)
			c.equal("conditions of the giver", conditionsOf(c.get("alpha")), []string{"Ready=Unknown Handover", "Reconciling=True Handover"})
			c.equal("what alpha publishes", c.publishedByAlpha(), "argocd")
		})
	}
}

// Another Kustomization has taken over the objects of a selection, which then renders the same artifact again.
func TestPublishedObjectsAreNotMarkedAgain(t *testing.T) {
	c := moving(t)
	c.consumer("git", "", gitFed)
	c.flux("git", "other", "argocd")
	c.restart() // forces another render
	c.settle("alpha")
	c.equal("alpha", conditionsOf(c.get("alpha")), stalled("Conflict"))
	c.equal("marks that keep argocd", c.kept("argocd"), "")
}

// wipe removes the status of a selection.
func (c *liveCluster) wipe(name string) {
	c.Helper()
	cs := c.get(name)
	cs.Status = v1alpha1.CatalogSelectionStatus{}
	if err := apiServer.Status().Update(c.Context(), cs); err != nil {
		c.Fatal(err)
	}
}
