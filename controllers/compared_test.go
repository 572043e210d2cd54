// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

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
	e.source(applications(t, e.own("argocd falco")))
	e.approve(e.own("nginx")) // as copied from another selection, which has published it
	cs = e.reconcile("kkp")
	e.equal("lost when the catalog has changed", lost(cs), []string{"Removal " + e.own("nginx")})
	e.equal("approve", e.approveHeld(), []string{e.own("nginx") + ":live"})
	cs, _ = e.publish("kkp")
	e.equal("withheld once it is approved", cs.Status.Withheld, "")
	e.reconcile("kkp")
	e.publish("kkp")
}

// Its archive is no publication. If the status is lost, the ExternalArtifact still has the reason why it names nothing.
func TestAnUnservedArtifactIsNoBaseline(t *testing.T) {
	for name, lose := range map[string]func(*environment){
		"the status is there": func(*environment) {},
		"the status is lost": func(e *environment) {
			e.rewrite(func(s *v1alpha1.CatalogSelectionStatus) { *s = v1alpha1.CatalogSelectionStatus{} })
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(applications(t, e.own("argocd nginx")))
			e.selection("kkp", guarded, compared)
			e.equal("withheld", e.reconcile("kkp").Status.Withheld, "NoConsumer")
			lose(e)
			e.edit(exclude(e.own("argocd"), e.own("nginx"))) // names the loss of all
			e.equal("conditions of an empty first publication", conditionsOf(e.reconcile("kkp")), stalled("EmptyResult"))
			e.equal("the artifact", e.announced("kkp").Status.Artifact == nil, true)

			e.edit(exclude())
			e.source(applications(t, e.own("argocd")))
			cs := e.reconcile("kkp")
			e.equal("conditions", conditionsOf(cs), []string{"Ready=True Succeeded"})
			e.equal("applications", len(cs.Status.Applications), 1)
		})
	}
}

// A conflict withholds what clusters have applied, also once no Kustomization of this one uses it.
func TestAnArtifactThatAConflictWithheldIsABaseline(t *testing.T) {
	e, _ := publishGuarded(t, "argocd nginx")
	e.edit(compared)
	e.rewrite(func(s *v1alpha1.CatalogSelectionStatus) { s.Withheld = v1alpha1.ConflictReason })
	if err := e.reconciler.artifacts.Announce(t.Context(), e.get("kkp")); err != nil {
		t.Fatal(err)
	}
	e.good() // the conflict has ended
	e.source(applications(t, "argocd"))
	e.equal("lost", lost(e.reconcile("kkp")), []string{"Removal nginx 1.0.0"})
}

// What was pushed is applied by other clusters, without a Kustomization in this one.
func TestAPushedArtifactIsABaseline(t *testing.T) {
	for name, status := range map[string]func(first v1alpha1.CatalogSelectionStatus) v1alpha1.CatalogSelectionStatus{
		"the status is lost":                      func(v1alpha1.CatalogSelectionStatus) (lost v1alpha1.CatalogSelectionStatus) { return lost },
		"the status is of an earlier publication": func(first v1alpha1.CatalogSelectionStatus) v1alpha1.CatalogSelectionStatus { return first },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(applications(t, "argocd"))
			e.selection("kkp", guarded, compared, func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Push = &v1alpha1.Push{URL: "oci://127.0.0.1:1/rendered"}
			})
			first := e.reconcile("kkp")
			e.source(applications(t, "argocd nginx"))
			e.equal("withheld", e.reconcile("kkp").Status.Withheld, "NoConsumer")
			e.rewrite(func(s *v1alpha1.CatalogSelectionStatus) { *s = status(first.Status) })
			e.source(applications(t, "argocd"))
			e.equal("lost", lost(e.reconcile("kkp")), []string{"Removal nginx 1.0.0"})
		})
	}
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

// kustomize-controller applies a selection before the sources of the same commit: what the edit alone would lose is no news yet.
func TestAHoldIsQuietWhileTheEditIsFresh(t *testing.T) {
	const before = "argocd:gold nginx:silver"
	quiet := []string{"Held=Unknown SourcesUnsettled", "Ready=Unknown SourcesUnsettled", "Reconciling=True SourcesUnsettled"}
	edited := func(t *testing.T) (*environment, lastGood) {
		e, good := publishGuarded(t, before, tierRefs("gold", "silver"))
		e.reconciler.settleDelay = 30 * time.Second
		e.edit(tierRefs("gold", "standard"))
		return e, good
	}
	t.Run("the catalog follows", func(t *testing.T) {
		e, good := edited(t)
		e.equal("conditions", conditionsOf(e.reconcile("kkp")), quiet)
		e.untouchedArtifact(good)
		e.source(applications(t, "argocd:gold nginx:standard"))
		cs, _ := e.publish("kkp")
		e.equal("applications", len(cs.Status.Applications), 2)
		e.equal("a warning", strings.Contains(strings.Join(e.events.take(), "\n"), "Warning"), false)
	})
	t.Run("no catalog follows", func(t *testing.T) {
		e, good := edited(t)
		result, err := e.tryReconcile("kkp")
		if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > 30*time.Second {
			t.Errorf("Reconcile() = %v, %v", result, err)
		}
		e.pass(29 * time.Second)
		e.equal("conditions after 29 s", conditionsOf(e.reconcile("kkp")), quiet)
		e.equal("events after 29 s", e.events.take(), []string(nil))
		e.untouchedArtifact(good)
		e.pass(time.Second)
		e.equal("lost", lost(e.hold(good, "Removal")), []string{"Removal nginx 1.0.0"})
		e.equal("events after 30 s", e.events.take(), warned("Removal"))
	})
	t.Run("a line names it", func(t *testing.T) {
		e, _ := edited(t)
		e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.DeletionPolicy = v1alpha1.DeletionPolicyOrphan })
		e.approve("nginx")
		cs, _ := e.publish("kkp")
		e.equal("applications", len(cs.Status.Applications), 1)
	})
	t.Run("at first", func(t *testing.T) {
		e := newEnvironment(t)
		e.reconciler.settleDelay = 30 * time.Second
		e.live("argocd:1.0.0,2.0.0")
		e.source(applications(t, e.own("argocd::2.0.0")))
		e.selection("kkp", guarded)
		e.equal("conditions", conditionsOf(e.reconcile("kkp")), quiet)
		e.pass(30 * time.Second)
		e.equal("conditions after 30 s", conditionsOf(e.reconcile("kkp")), stalledHold("Adoption"))
	})
	t.Run("the catalog loses something long after the edit", func(t *testing.T) {
		e, _ := publishGuarded(t, before, tierRefs("gold", "silver"))
		e.reconciler.settleDelay = 30 * time.Second
		e.source(applications(t, "argocd:gold nginx:silver falco:silver"))
		e.pass(time.Hour)
		good := e.good()
		e.source(applications(t, "argocd:gold falco:silver"))
		e.hold(good, "Removal")
	})
}

// What a spec gives up is deleted under Delete, so that it waits for the sources of the same commit although Git names it.
func TestWhatIsNamedWaitsUnderDeleteAlone(t *testing.T) {
	for policy, want := range map[string][]string{
		v1alpha1.DeletionPolicyOrphan: {"Ready=True Succeeded"},
		v1alpha1.DeletionPolicyDelete: {"Held=Unknown SourcesUnsettled", "Ready=Unknown SourcesUnsettled", "Reconciling=True SourcesUnsettled"},
	} {
		t.Run(policy, func(t *testing.T) {
			e, _ := publishGuarded(t, "argocd nginx", func(cs *v1alpha1.CatalogSelection) { cs.Spec.DeletionPolicy = policy })
			e.reconciler.settleDelay = 30 * time.Second
			e.edit(exclude("nginx"))
			e.equal("conditions", conditionsOf(e.reconcile("kkp")), want)
			e.pass(30 * time.Second)
			e.equal("applications", len(e.good().cs.Status.Applications), 1)
		})
	}
}

func (e *environment) untouchedArtifact(good lastGood) {
	e.Helper()
	e.equal("the artifact", e.announced("kkp").Status.Artifact, good.announced.Status.Artifact)
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

// After a restart, a process publishes what is published already, writes no status for that, and was frozen before each read of the
// ExternalArtifact: without a write, no version is a fence.
func TestAnUnchangedPublicationBesideAnotherLeaderIsNotAnnounced(t *testing.T) {
	for read, frozen := 0, true; frozen; read++ {
		t.Run(fmt.Sprint("before read ", read), func(t *testing.T) {
			e, last := publishGuarded(t, "argocd")
			e.restart()
			frozen = false
			reads := 0
			e.traffic.replaceReads(func(_ client.ObjectKey, object client.Object) (bool, error) {
				if _, ok := object.(*sourcev1.ExternalArtifact); !ok || frozen {
					return false, nil
				}
				if reads++; reads > read {
					frozen = true
					next := *e
					next.traffic = &traffic{}
					next.restart()
					next.source(applications(t, "argocd nginx"))
					last = next.good()
				}
				return false, nil
			})
			_, _ = e.tryReconcile("kkp")
			e.traffic.replaceReads(nil)
			e.equal("the artifact", e.announced("kkp").Status.Artifact, last.announced.Status.Artifact)
		})
	}
}

// A publication reads nothing from the API server: the version of the ExternalArtifact is the fence.
func TestAPublicationReadsNothing(t *testing.T) {
	e, _ := publishGuarded(t, "argocd")
	e.source(applications(t, "argocd nginx"))
	reads := 0
	reader := e.reconciler.artifacts.APIReader
	e.reconciler.artifacts.APIReader = interceptor.NewClient(reader.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
			reads++
			return c.Get(ctx, key, object, opts...)
		},
	})
	e.publish("kkp")
	e.equal("reads", reads, 0)
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
	c.catalog("argocd", "nginx")
	c.change("kkp", guarded)
	c.change("kkp", without("argocd"))
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
