// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
)

// countingReader counts the lists of Kustomizations.
type countingReader struct {
	client.Reader
	lists int
}

func (r *countingReader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, ok := list.(*kustomizev1.KustomizationList); ok {
		r.lists++
	}
	return r.Reader.List(ctx, list, opts...)
}

// Marks that cannot be removed yet are checked again after moveRetry: all of them with one list of
// Kustomizations.
func TestMarksThatStayCostOneListOfKustomizations(t *testing.T) {
	names := []string{"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"}
	c := newCluster(t)
	c.catalog(append(names, "rest", "other")...)
	c.selection("alpha", compared, without("other"))
	c.selection("beta", compared, without(append(names, "rest")...))
	c.consumer("alpha", "alpha", pruning)
	c.consumer("beta", "beta", pruning)
	c.settle("alpha", "beta")
	c.flux("alpha", "alpha", append(names, "rest")...)
	c.flux("beta", "beta", "other")
	c.settle("alpha", "beta")
	c.change("alpha", without(append(names, "other")...))
	c.change("beta", without("rest"))
	c.rounds("alpha", "beta")
	c.flux("beta", "beta", append(names, "other")...) // alpha's Kustomization is suspended: its inventory has them still
	c.rounds("alpha", "beta")
	c.equal("kept", c.kept("a1"), disabled)
	reader := &countingReader{Reader: apiServer}
	c.reconciler.cluster.APIReader = reader
	c.settle("beta")
	if reader.lists > 1 {
		t.Errorf("one reconciliation lists all Kustomizations %d times, for %d marks", reader.lists, len(names))
	}
}

// Another process, the next leader or another shard, sets a mark with the same field manager between the read
// and the write of this one, which keeps that mark.
func TestMarksOfAnotherProcessAreNotStripped(t *testing.T) {
	c := moving(t)
	c.handOver()
	c.flux("alpha", "alpha", "falco")
	c.equal("kept", c.kept("argocd"), disabled)
	c.flux("beta", "beta", "argocd", "nginx")
	c.awaitCaches()
	c.wire.before = func(*http.Request) {
		c.wire.before = nil
		c.bypass("argocd")
		u := newDefinition(c.group, "argocd")
		u.SetAnnotations(map[string]string{reconcileAnnotation: disabled, pruneAnnotation: disabled})
		if err := apiServer.Apply(context.Background(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(marksOwner)); err != nil {
			t.Fatal(err)
		}
	}
	c.reconciled("beta")
	c.equal("the mark of the bypass that another process has set", c.live("argocd").GetAnnotations()[reconcileAnnotation], disabled)
}

func TestThreeSelectionsSwapInARing(t *testing.T) {
	for _, order := range [][]string{{"alpha", "beta", "gamma"}, {"gamma", "beta", "alpha"}, {"beta", "gamma", "alpha"}} {
		t.Run(order[0]+order[1], func(t *testing.T) {
			c := moving(t)
			c.selection("gamma", compared, without("argocd", "nginx"))
			c.consumer("gamma", "gamma", pruning)
			c.settle("gamma")
			c.flux("gamma", "gamma", "falco")
			c.settle("gamma")
			c.change("alpha", without("argocd", "falco"))
			c.change("beta", without("argocd", "nginx"))
			c.change("gamma", without("nginx", "falco"))
			c.rounds(order...)
			c.ready("alpha", "beta", "gamma")
			c.equal("kept", []string{c.kept("argocd"), c.kept("nginx"), c.kept("falco")}, []string{disabled, disabled, disabled})
			c.flux("gamma", "gamma", "argocd")
			c.rounds(order...)
			c.flux("alpha", "alpha", "nginx")
			c.rounds(order...)
			c.flux("beta", "beta", "falco")
			c.rounds(order...)
			c.ready("alpha", "beta", "gamma")
			c.equal("kept at the end", []string{c.kept("argocd"), c.kept("nginx"), c.kept("falco")}, []string{"", "", ""})
		})
	}
}

// While a third selection is slow, two that wait for the evaluation of others do not enqueue each other
// repeatedly.
func TestTwoSelectionsThatWaitForAThirdDoNotEnqueueEachOther(t *testing.T) {
	c := newCluster(t)
	c.catalog("a1", "a2", "b1", "b2", "s")
	c.selection("alpha", compared, without("b1", "b2", "s"))
	c.selection("beta", compared, without("a1", "a2", "s"))
	c.selection("slow", compared, without("a1", "a2", "b1", "b2"))
	c.consumer("alpha", "alpha", pruning)
	c.consumer("beta", "beta", pruning)
	c.settle("alpha", "beta")
	c.flux("alpha", "alpha", "a1", "a2")
	c.flux("beta", "beta", "b1", "b2")
	c.settle("alpha", "beta")
	c.restart()
	c.change("alpha", without("a1", "b1", "b2", "s"))
	c.change("beta", without("b1", "a1", "a2", "s"))
	c.settle("alpha", "beta")
	count := 0
	for range 30 {
		enqueued := slices.DeleteFunc(c.takeEnqueued(), func(n string) bool { return n == "slow" })
		if len(enqueued) == 0 {
			break
		}
		count += len(enqueued)
		c.settle(enqueued...)
	}
	if count > 10 {
		t.Errorf("%d reconciliations while nothing happened", count)
	}
}

// A tenant creates one selection after the other with the name of an application, and its Kustomizations never
// apply anything. The platform, whose Kustomization has applied something, gets the application.
func TestSelectionsThatNeverAppliedReserveNothingAgainstOneThatHas(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd", "nginx")
	c.selection("kkp", compared, without("nginx"))
	c.consumer("apps", "kkp", pruning)
	c.look()
	c.flux("apps", "kkp", "argocd")
	c.look()
	c.publish("kkp")
	suspended := func(ks *kustomizev1.Kustomization) { ks.Spec.Suspend = true }
	c.selection("tenant0", compared, without("argocd"))
	c.consumer("tenant0", "tenant0", suspended)
	c.settle("tenant0")
	c.change("kkp", without())
	next := []string{"tenant0", "tenant1", "tenant2", "tenant3"}
	for i := range 3 {
		c.settle("kkp")
		c.pass(9 * time.Minute)
		c.selection(next[i+1], compared, without("argocd"))
		c.consumer(next[i+1], next[i+1], suspended)
		c.settle(next[i+1])
		c.remove(c.get(next[i]))
		c.reconciled(next[i])
		c.settle(next[i+1], "kkp")
	}
	c.equal("conditions of the platform after 27 minutes", conditionsOf(c.get("kkp")), []string{"Ready=True Succeeded"})
}

// If the status is wiped, and the ExternalArtifact refers to the archive of another selection, that archive is
// not read, because readers of this status may have no access to its names.
func TestTheArchiveOfAnotherSelectionIsNoBaseline(t *testing.T) {
	c := newCluster(t)
	n := c.neighbor()
	n.catalog("argocd", "secret-project")
	n.selection("other")
	n.settle("other")
	c.catalog("argocd")
	c.selection("kkp", guarded)
	c.look()
	announced := c.announced("kkp")
	announced.Status.Artifact = n.get("other").Status.Artifact
	if err := apiServer.Status().Update(t.Context(), announced); err != nil {
		t.Fatal(err)
	}
	cs := c.get("kkp")
	cs.Status = v1alpha1.CatalogSelectionStatus{ObservedGeneration: -1}
	if err := apiServer.Status().Update(t.Context(), cs); err != nil {
		t.Fatal(err)
	}
	c.restart()
	c.awaitCaches()
	_, _ = c.tryReconcile("kkp")
	c.equal("held", lost(c.get("kkp")), []string{"BaselineLost "})
}

func TestWhatMovesIsNotDeleted(t *testing.T) {
	c := moving(t)
	uid := c.live("argocd").GetUID()
	c.change("alpha", without("argocd", "nginx", "falco"))
	c.change("beta", without("falco"))
	c.rounds("alpha", "beta")
	c.ready("alpha", "beta")
	c.equal("kept", c.kept("argocd"), disabled)
	c.flux("alpha", "alpha")
	c.rounds("alpha", "beta")
	c.equal("kept until it is applied", c.kept("argocd"), disabled)
	c.flux("beta", "beta", "argocd", "nginx")
	c.rounds("alpha", "beta")
	c.equal("kept once it was applied", c.kept("argocd"), "")
	if got := c.live("argocd").GetUID(); got != uid {
		t.Errorf("it is another object: %s, not %s", got, uid)
	}
}

// A Kustomization that has the object in its inventory may be about to apply an artifact without it.
func TestAMarkStaysWhileAnotherInventoryHasTheObject(t *testing.T) {
	c := moving(t)
	c.change("alpha", func(cs *v1alpha1.CatalogSelection) {
		without("argocd", "nginx")(cs)
	})
	c.change("beta", without("falco"))
	c.rounds("alpha", "beta")
	c.flux("beta", "beta", "argocd", "nginx")
	c.rounds("alpha", "beta")
	c.equal("kept while the giver has it", c.kept("argocd"), disabled)
	c.flux("alpha", "alpha", "falco")
	c.rounds("alpha", "beta")
	c.equal("kept afterwards", c.kept("argocd"), "")
}

// An unhealthy receiver leaves the mark of a move on objects that it has applied. Its next reviewed removal
// removes the mark, so that Flux deletes the object.
func TestALeftOverMarkDoesNotPreventARemoval(t *testing.T) {
	c := moving(t)
	c.handOver()
	c.flux("alpha", "alpha", "falco")
	c.flux("beta", "beta", "argocd", "nginx")
	c.report("beta", func(ks *kustomizev1.Kustomization) {
		ks.Status.LastAttemptedRevision = consumers.RevisionOf(c.get("beta"))
	})
	c.fails("beta") // a health check
	c.rounds("alpha", "beta")
	c.change("beta", without("argocd", "falco"))
	c.rounds("beta", "alpha")
	c.ready("beta")
	c.flux("beta", "beta", "nginx")
	c.equal("the excluded definition", c.kept("argocd"), "gone")
}
