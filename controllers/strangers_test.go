// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
)

// A Kustomization of a tenant may refer to the platform's ExternalArtifact. Its inventory must not hold
// publications of the platform.
func TestAKustomizationOfATenantHoldsNoPublicationOfThePlatform(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd")
	c.selection("kkp", compared, guarded)
	c.consumer("apps", "kkp", pruning)
	c.look()
	c.flux("apps", "kkp", "argocd")
	c.look()
	c.publish("kkp")
	n := c.neighbor()
	n.consumer("mine", "kkp", pruning, func(ks *kustomizev1.Kustomization) { ks.Spec.SourceRef.Namespace = c.namespace })
	n.report("mine", func(ks *kustomizev1.Kustomization) {
		ks.Status.LastAppliedRevision = "main@sha1:1"
		ks.Status.Inventory = &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{{ID: "tenant_settings__ConfigMap", Version: "v1"}}}
	})
	c.look()
	c.catalog("argocd", "nginx")
	c.look()
	c.equal("conditions of the platform", conditionsOf(c.get("kkp")), []string{"Ready=True Succeeded"})
	c.equal("lost", lost(c.get("kkp")), []string(nil))
}

// A tenant whose Kustomization has never applied anything takes no new application from a platform whose
// Kustomization fails or is suspended.
func TestATenantThatAppliesNothingTakesNothingFromThePlatform(t *testing.T) {
	for _, test := range []struct {
		name string
		then func(c *liveCluster)
	}{
		{"while its Kustomization fails", func(c *liveCluster) {
			c.report("apps", func(ks *kustomizev1.Kustomization) {
				ks.Status.LastAttemptedRevision = consumers.RevisionOf(c.get("kkp"))
			})
			c.fails("apps")
		}},
		{"while its Kustomization is suspended", func(c *liveCluster) {
			ks := c.kustomization("apps")
			ks.Spec.Suspend = true
			if err := apiServer.Update(c.Context(), ks); err != nil {
				c.Fatal(err)
			}
			c.pass(11 * time.Minute)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			c.catalog("argocd")
			c.selection("kkp", compared)
			c.consumer("apps", "kkp", pruning)
			c.look()
			c.flux("apps", "kkp", "argocd")
			c.look()
			c.publish("kkp")
			c.catalog("argocd", "nginx")
			c.look()
			c.ready("kkp")
			test.then(c)
			c.selection("tenant", compared, without("argocd"))
			c.consumer("tenant", "tenant")
			c.fails("tenant")
			c.rounds("tenant", "kkp")
			c.equal("conditions of the platform", conditionsOf(c.get("kkp")), []string{"Ready=True Succeeded"})
			c.equal("the platform's artifact is served", c.announced("kkp").Status.Artifact != nil, true)
		})
	}
}

// While a registry is down, Flux keeps Reconciling=True with the reason ProgressingWithRetry. An edit waits no
// longer than settleTimeout for that.
func TestARegistryThatIsDownDoesNotStopAnEditForEver(t *testing.T) {
	e, _ := publishGuarded(t, "argocd nginx")
	repository := &sourcev1.OCIRepository{}
	if err := apiServer.Get(t.Context(), e.key("catalog"), repository); err != nil {
		t.Fatal(err)
	}
	repository.Status.Conditions = []metav1.Condition{{
		Type: meta.ReconcilingCondition, Status: metav1.ConditionTrue, Reason: "ProgressingWithRetry", LastTransitionTime: metav1.Now(),
	}}
	if err := apiServer.Status().Update(t.Context(), repository); err != nil {
		t.Fatal(err)
	}
	e.edit(without("nginx"))
	for range 5 {
		e.pass(time.Hour)
		e.reconcile("kkp")
	}
	cs := e.get("kkp")
	e.equal("conditions", conditionsOf(cs), []string{"Ready=True Succeeded"})
}

// A selection that cannot render, here for a registry that is down, may be about to claim what leaves another one, for ten minutes.
func TestASelectionThatCannotRenderYetMayReceive(t *testing.T) {
	c := moving(t)
	artifact := c.secondSource()
	c.sources.Handle("/"+artifact.Path, unavailable)
	c.change("beta", func(cs *v1alpha1.CatalogSelection) {
		without("falco")(cs)
		cs.Spec.Sources[0].Name = "second"
	})
	c.change("alpha", without("argocd", "nginx"))
	_, _ = c.tryReconcile("alpha")
	_, _ = c.tryReconcile("beta")
	for _, minutes := range []time.Duration{5, 4} {
		c.settle("alpha")
		c.equal("conditions of the giver", conditionsOf(c.get("alpha")), []string{"Ready=Unknown Handover", "Reconciling=True Handover"})
		c.pass(minutes * time.Minute)
	}
	c.pass(2 * time.Minute)
	c.settle("alpha")
	c.ready("alpha")
}

// What leaves waits for a selection that is not evaluated, and goes to it once it is.
func TestASelectionThatIsNotEvaluatedInTimeMayReceive(t *testing.T) {
	c := moving(t)
	c.restart()
	c.change("beta", without("falco"))
	c.change("alpha", without("argocd", "nginx"))
	c.settle("alpha")
	c.pass(9 * time.Minute)
	c.settle("alpha")
	c.equal("conditions of the giver", conditionsOf(c.get("alpha")), []string{"Ready=Unknown Handover", "Reconciling=True Handover"})
	c.settle("beta")
	c.settle("alpha")
	c.equal("kept", c.kept("argocd"), disabled)
	c.flux("alpha", "alpha", "falco")
	if c.live("argocd") == nil {
		t.Error("argocd is deleted")
	}
}

// A reviewed edit removes applications that another selection has as well, if no Kustomization uses the
// artifact of that selection.
func TestASelectionWithoutAConsumerDoesNotPreventRemovals(t *testing.T) {
	c := moving(t)
	n := c.neighbor()
	n.catalog("argocd", "nginx", "falco")
	n.selection("forgotten", compared)
	n.settle("forgotten")
	c.pass(24 * time.Hour)
	n.settle("forgotten")
	c.change("alpha", without("argocd", "nginx"))
	for range 3 {
		c.settle("alpha")
		n.settle("forgotten")
		c.settle("beta")
	}
	c.flux("alpha", "alpha", "falco")
	c.equal("the removed definition", c.kept("argocd"), "gone")
}

// The same without the right to set marks: the platform does not wait.
func TestASelectionWithoutAConsumerDelaysNoRemoval(t *testing.T) {
	c := moving(t)
	c.runAs(read(platformGroup, "applicationdefinitions"), readKustomizations())
	n := c.neighbor()
	n.catalog("argocd", "nginx", "falco")
	n.selection("forgotten", compared)
	n.settle("forgotten")
	c.change("alpha", without("argocd", "nginx"))
	for range 3 {
		c.pass(24 * time.Hour)
		c.settle("alpha")
		n.settle("forgotten")
		c.settle("beta")
	}
	c.equal("conditions of the platform", conditionsOf(c.get("alpha")), []string{"Ready=True Succeeded"})
}

// A selection without a record still marks objects that move, also after a restart.
func TestAMoveOfASelectionWithoutARecordIsMarked(t *testing.T) {
	c := moving(t)
	c.change("beta", without("falco"))
	c.rounds("beta")
	c.equal("the receiver waits", conditionsOf(c.get("beta")), stalled("Conflict"))
	cs := c.get("alpha")
	cs.Status.WrittenRecord = nil
	if err := apiServer.Status().Update(t.Context(), cs); err != nil {
		t.Fatal(err)
	}
	c.restart()
	c.change("alpha", without("argocd", "nginx"))
	c.rounds("beta", "alpha")
	c.equal("kept", c.kept("argocd"), disabled)
	c.flux("alpha", "alpha", "falco")
	if c.live("argocd") == nil {
		t.Error("argocd is deleted")
	}
}

// A selection that is suspended before its publication still serves the objects that it was about to give up.
func TestASuspendedSelectionGivesNothingUp(t *testing.T) {
	c := moving(t)
	c.runAs(read(platformGroup, "applicationdefinitions"), readKustomizations())
	c.change("alpha", without("argocd", "nginx"))
	c.change("beta", without("falco"))
	c.settle("beta")
	c.settle("alpha") // waits for beta to be evaluated, or to apply
	c.change("alpha", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true })
	c.settle("alpha")
	c.settle("beta", "beta")
	c.equal("conditions of the other", conditionsOf(c.get("beta")), stalled("Conflict"))
}

// A hub acts on other clusters alone. A tenant has a Kustomization of its artifact in this one.
func TestAKustomizationOfATenantMakesNoHubActHere(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		t.Run(fmt.Sprintf("restarted: %t", restarted), func(t *testing.T) {
			c := moving(t)
			c.selection("hub", compared, without("nginx", "falco"))
			c.consumer("hub", "hub", pruning, remotely)
			c.settle("hub")
			c.reports("hub", c.get("hub").Status.Artifact.Revision)
			c.rounds("hub")
			c.ready("hub")
			n := c.neighbor()
			n.consumer("mine", "hub", func(ks *kustomizev1.Kustomization) { ks.Spec.SourceRef.Namespace = c.namespace })
			if restarted {
				c.restart()
			}
			c.rounds("hub", "alpha")
			c.pass(11 * time.Minute)
			c.rounds("hub", "alpha")
			c.ready("hub", "alpha")
			c.equal("the artifact of the hub is announced", c.announced("hub").Status.Artifact != nil, true)
		})
	}
}

// A tenant has a suspended Kustomization of the artifact of the platform, which never applies it: a move ends all the same.
func TestAKustomizationOfATenantKeepsNoMark(t *testing.T) {
	c := moving(t)
	c.handOver()
	n := c.neighbor()
	n.consumer("mine", "beta", func(ks *kustomizev1.Kustomization) { ks.Spec.SourceRef.Namespace, ks.Spec.Suspend = c.namespace, true })
	c.flux("alpha", "alpha", "falco")
	c.flux("beta", "beta", "argocd", "nginx")
	for range 3 {
		c.rounds("alpha", "beta")
		c.pass(11 * time.Minute)
	}
	c.equal("the mark", c.kept("argocd"), "")
}

// Flux may let a Kustomization of another namespace apply the artifact of a hub, so that live definitions are protected from it.
func TestWhatAKustomizationOfAnotherNamespaceReplacesIsHeld(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd")
	u := newDefinition(c.group, "argocd")
	setVersions(u, "0.9.0")
	if err := apiServer.Create(t.Context(), u, client.FieldOwner("user")); err != nil {
		t.Fatal(err)
	}
	c.consumer("there", "hub", remotely)
	c.neighbor().consumer("here", "hub", func(ks *kustomizev1.Kustomization) { ks.Spec.SourceRef.Namespace = c.namespace })
	c.selection("hub", guarded)
	c.settle("hub")
	c.equal("conditions", conditionsOf(c.get("hub")), []string{"Held=True Adoption", "Ready=False Adoption", "Stalled=True Adoption"})
}
