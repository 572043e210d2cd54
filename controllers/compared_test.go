// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// A Kustomization with a new source deletes the objects in its inventory that the artifact lacks.
func TestNothingIsServedUntilAConsumerWasCompared(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, e.own("argocd")))
	e.selection("kkp", guarded, compared)
	cs := e.reconcile("kkp")
	e.equal("conditions", conditionsOf(cs), []string{"Ready=True Succeeded"})
	e.equal("Applied", conditions.GetReason(cs, v1alpha1.AppliedCondition), "NoConsumer")
	e.equal("withheld", cs.Status.Withheld, "NoConsumer")
	announced := e.announced("kkp")
	e.equal("the artifact", announced.Status.Artifact == nil, true)
	e.equal("Ready of the ExternalArtifact", conditions.GetReason(announced, meta.ReadyCondition), "NoConsumer")
	e.restart()
	e.equal("the selection after a restart", e.reconcile("kkp").Status.Withheld, "NoConsumer")

	e.applied("apps", e.own("argocd nginx"))
	e.settled("apps")
	cs = e.reconcile("kkp")
	e.equal("conditions with a consumer that has more", conditionsOf(cs), stalledHold("Removal"))
	e.equal("lost", lost(cs), []string{"Removal " + e.own("nginx")})
	e.equal("the artifact while it is held", e.announced("kkp").Status.Artifact == nil, true)
	next := e.source(applications(t, e.own("argocd falco")))
	e.approve(next.Digest) // as copied from another selection
	cs = e.reconcile("kkp")
	e.equal("lost when the catalog has changed", lost(cs), []string{"Removal " + e.own("nginx")})
	e.approve(cs.Status.Held.Approve...)
	cs, _ = e.publish("kkp")
	e.equal("withheld once it is approved", cs.Status.Withheld, "")
	e.reconcile("kkp")
	e.publish("kkp")
}

func TestAnUnservedArtifactIsNoBaseline(t *testing.T) {
	e := newEnvironment(t)
	e.source(applications(t, e.own("argocd nginx")))
	e.selection("kkp", guarded, compared)
	e.equal("withheld", e.reconcile("kkp").Status.Withheld, "NoConsumer")
	e.source(applications(t, e.own("argocd")))
	cs := e.reconcile("kkp")
	e.equal("conditions", conditionsOf(cs), []string{"Ready=True Succeeded"})
	e.equal("applications", len(cs.Status.Applications), 1)
}

// settled waits until the cache has a Kustomization.
func (e *environment) settled(name string) {
	e.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		consumed, err := e.reconciler.cluster.Kustomizations.Of(e.Context(), e.get("kkp"))
		if err != nil {
			e.Fatal(err)
		}
		if !consumed.None() {
			return
		}
		if time.Now().After(deadline) {
			e.Fatalf("the cache does not have %s", name)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestAServedArtifactStaysServed(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd")
	c.selection("kkp", compared)
	c.consumer("apps", "kkp", pruning)
	c.look()
	c.publish("kkp")
	c.remove(c.kustomization("apps"))
	c.look()
	c.restart()
	c.look()
	_, announced := c.publish("kkp")
	c.remove(announced)
	c.look()
	c.publish("kkp")
}

// kustomize-controller applies a selection before the sources of the same commit.
func TestAnEditThatTakesSomethingAwayWaitsForItsSources(t *testing.T) {
	const before, after = "argocd:gold nginx:silver", "argocd:gold nginx:standard"
	edit := tierRefs("gold", "standard")
	t.Run("the catalog follows", func(t *testing.T) {
		e, good := publishGuarded(t, before, tierRefs("gold", "silver"))
		e.reconciler.settleDelay = 30 * time.Second
		e.edit(edit)
		cs := e.reconcile("kkp")
		e.equal("conditions", conditionsOf(cs), []string{"Ready=Unknown SourcesUnsettled", "Reconciling=True SourcesUnsettled"})
		e.untouchedArtifact(good)
		e.source(applications(t, after))
		cs, _ = e.publish("kkp")
		e.equal("applications", len(cs.Status.Applications), 2)
	})
	t.Run("no catalog follows", func(t *testing.T) {
		e, good := publishGuarded(t, before, tierRefs("gold", "silver"))
		e.reconciler.settleDelay = 30 * time.Second
		e.edit(tierRefs("gold"))
		result, err := e.tryReconcile("kkp")
		if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > 30*time.Second {
			t.Errorf("Reconcile() = %v, %v", result, err)
		}
		e.passed += 29 * time.Second
		e.equal("conditions after 29 s", conditionsOf(e.reconcile("kkp")), []string{"Ready=Unknown SourcesUnsettled", "Reconciling=True SourcesUnsettled"})
		e.untouchedArtifact(good)
		e.passed += time.Second
		cs, _ := e.publish("kkp")
		e.equal("applications", len(cs.Status.Applications), 1)
	})
	for _, unsettled := range []struct {
		name string
		edit func(*sourcev1.OCIRepository)
	}{
		{"a source whose generation was not observed", func(o *sourcev1.OCIRepository) { o.Status.ObservedGeneration-- }},
		{"a source that is reconciling", func(o *sourcev1.OCIRepository) {
			o.Status.Conditions = []metav1.Condition{{
				Type: meta.ReconcilingCondition, Status: metav1.ConditionTrue, Reason: "Progressing", LastTransitionTime: metav1.Now(),
			}}
		}},
	} {
		t.Run(unsettled.name, func(t *testing.T) {
			e, good := publishGuarded(t, before, tierRefs("gold", "silver"))
			repository := &sourcev1.OCIRepository{}
			set := func(edit func(*sourcev1.OCIRepository)) {
				if err := apiServer.Get(t.Context(), e.key("catalog"), repository); err != nil {
					t.Fatal(err)
				}
				edit(repository)
				if err := apiServer.Status().Update(t.Context(), repository); err != nil {
					t.Fatal(err)
				}
			}
			set(unsettled.edit)
			e.edit(tierRefs("gold"))
			e.equal("conditions", conditionsOf(e.reconcile("kkp")), []string{"Ready=Unknown SourcesUnsettled", "Reconciling=True SourcesUnsettled"})
			e.untouchedArtifact(good)
			set(func(o *sourcev1.OCIRepository) { o.Status.ObservedGeneration, o.Status.Conditions = o.Generation, nil })
			e.publish("kkp")
		})
	}
}

func (e *environment) untouchedArtifact(good lastGood) {
	e.Helper()
	e.equal("the artifact", e.announced("kkp").Status.Artifact, good.announced.Status.Artifact)
}

// v2 was approved, v3 adds an application, and the tag returns to v2.
func TestALeftOverApprovalReleasesNothing(t *testing.T) {
	e, good := publishGuarded(t, "argocd nginx")
	second := e.source(applications(t, "argocd"))
	e.hold(good, "Removal")
	e.approve(second.Digest)
	e.good()
	e.equal("used approvals", e.get("kkp").Status.UsedApprovals, []string{second.Digest})
	e.source(applications(t, "argocd falco"))
	good = e.good()
	e.source(applications(t, "argocd"))
	cs := e.hold(good, "Removal")
	e.equal("lost", lost(cs), []string{"Removal falco 1.0.0"})
	e.equal("approve", cs.Status.Held.Approve, []string{second.Digest + "#2"})
	e.approve(second.Digest + "#again")
	e.good()
	e.equal("used approvals", e.get("kkp").Status.UsedApprovals, []string{second.Digest, second.Digest + "#again"})
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.Approve = nil })
	e.reconcile("kkp")
	e.equal("used approvals that are gone from the spec", e.get("kkp").Status.UsedApprovals, []string(nil))
}

// The process was frozen between its two writes, and another leader has published since.
func TestAFrozenProcessPutsNoOlderArtifactBack(t *testing.T) {
	e, _ := publishGuarded(t, "argocd")
	frozen := e.get("kkp")
	e.source(applications(t, "argocd nginx"))
	newer := e.good()
	if err := e.reconciler.artifacts.Announce(e.Context(), frozen); !isConflict(err) {
		t.Errorf("announce() = %v", err)
	}
	e.equal("the artifact", e.announced("kkp").Status.Artifact, newer.announced.Status.Artifact)
}

// The mark stays for a selection with bypass: Ignore and no Kustomization, for one that is held, and for one
// whose Kustomization applies to another cluster.
func TestOnlyTheHolderEndsABypass(t *testing.T) {
	ignore := func(cs *v1alpha1.CatalogSelection) { cs.Spec.Cluster.Bypass = v1alpha1.BypassIgnore }
	for _, test := range []struct {
		name  string
		setup func(c *liveCluster)
		marks []string
	}{
		{"without a Kustomization", func(c *liveCluster) { c.selection("tenant", compared, ignore) }, []string{"disabled by winnow-marks"}},
		{"without a Kustomization, but served", func(c *liveCluster) { c.selection("tenant", ignore) }, []string{"disabled by winnow-marks"}},
		{"with a Kustomization that waits", func(c *liveCluster) {
			c.selection("tenant", compared, ignore)
			c.consumer("tenant", "tenant", pruning)
		}, []string{"disabled by winnow-marks"}},
		{"with one of another cluster", func(c *liveCluster) {
			c.selection("tenant", compared, ignore)
			c.consumer("tenant", "tenant", pruning, remotely)
		}, []string{"disabled by winnow-marks"}},
		{"by the holder", func(c *liveCluster) { c.change("kkp", ignore) }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := publishing(t)
			c.bypass("argocd")
			c.look()
			test.setup(c)
			c.wire.taken()
			for range 3 {
				c.settle("kkp")
				if test.marks != nil {
					c.settle("tenant")
				}
			}
			c.equal("marks", c.marks("argocd"), appliedAnd(test.marks...))
			if requests := c.wire.taken(); test.marks != nil && len(requests) > 0 {
				t.Errorf("the marks were changed: %v", requests)
			}
		})
	}
}

// The guard must not rely on the past absence of a kind.
func TestDefinitionsOfANewKindAreGuarded(t *testing.T) {
	c := withoutKind(t)
	c.change("kkp", func(cs *v1alpha1.CatalogSelection) {
		guarded(cs)
		cs.Spec.Exclude = []string{"argocd"}
		cs.Spec.Safeguards.OnEmpty = v1alpha1.SafeguardPublish
	})
	c.publish("kkp")
	c.install(c.group)
	defer c.uninstall(c.group)
	u := newDefinition(c.group, "argocd")
	setVersions(u, "0.9.0")
	if err := apiServer.Create(t.Context(), u, client.FieldOwner("user")); err != nil {
		t.Fatal(err)
	}
	c.change("kkp", without())
	c.equal("conditions", conditionsOf(c.reconcile("kkp")), []string{"Held=True Adoption", "Ready=True Succeeded"})
}
