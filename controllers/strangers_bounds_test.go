// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
)

// A stranger is a selection of another namespace that may receive what the platform removes, and that never applies it.
type stranger struct {
	name string
	// come makes the stranger in a namespace of its own, and happens before the platform's removal.
	come func(n *liveCluster)
	// busy happens at each of the minutes.
	busy func(n *liveCluster)
}

// minutes are the ages of a removal at which it is tried again: a restart follows the second one.
func minutes() []time.Duration { return []time.Duration{0, 5, 6, 9, 11} }

// busily edits a spec once more, without another meaning.
func (c *liveCluster) busily(name string) {
	c.Helper()
	c.change(name, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Interval.Duration += time.Second })
}

func strangers() []stranger {
	return []stranger{
		{"has neither a source nor a consumer", func(n *liveCluster) {
			n.selection("tenant", compared, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "none" })
		}, nil},
		{"has neither, and is edited without end", func(n *liveCluster) {
			n.selection("tenant", compared, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "none" })
		}, func(n *liveCluster) { n.busily("tenant") }},
		{"is held", func(n *liveCluster) {
			n.owningTempo()
			n.catalog("argocd")
			n.change("tenant", func(cs *v1alpha1.CatalogSelection) { guarded(cs); compared(cs) })
		}, nil},
		{"is suspended", func(n *liveCluster) {
			n.owningTempo()
			n.change("tenant", without("argocd"))
			n.settle("tenant")
			n.catalog("argocd", "tempo")
			n.change("tenant", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend, cs.Spec.Exclude = true, nil })
		}, nil},
		{"has a Kustomization that applies nothing, and says that it did", func(n *liveCluster) {
			n.catalog("argocd")
			n.selection("tenant", compared)
			n.consumer("tenant", "tenant", pruning)
			_, _ = n.tryReconcile("tenant")
			n.awaitCaches()
			_, _ = n.tryReconcile("tenant")
			n.report("tenant", func(ks *kustomizev1.Kustomization) {
				ks.Status.LastAppliedRevision = consumers.RevisionOf(n.get("tenant"))
			})
		}, func(n *liveCluster) { n.busily("tenant") }},
	}
}

// owningTempo creates the selection "tenant", whose Kustomization has applied a definition.
func (c *liveCluster) owningTempo() {
	c.Helper()
	const name = "tempo"
	c.catalog(name)
	c.selection("tenant", compared)
	c.consumer("tenant", "tenant", pruning)
	c.settle("tenant")
	c.flux("tenant", "tenant", name)
	c.settle("tenant")
	c.ready("tenant")
}

// reconcileBoth reconciles the platform's selections and the one of the tenant, whatever the result is.
func (c *liveCluster) reconcileBoth(n *liveCluster) {
	c.Helper()
	for range 3 {
		c.awaitCaches()
		_, _ = n.tryReconcile("tenant")
		c.settle("alpha", "beta")
	}
}

// A stranger delays a removal of the platform for ten minutes from its first attempt at most, whatever the stranger
// edits, and whatever restarts; the rest of the publication does not wait.
func TestAStrangerDelaysARemovalForTenMinutesAtMost(t *testing.T) {
	for _, test := range strangers() {
		t.Run("one that "+test.name, func(t *testing.T) {
			c := moving(t)
			n := c.neighbor()
			test.come(n)
			c.change("alpha", without("argocd", "nginx"))
			for _, minute := range minutes() {
				c.passed = minute * time.Minute
				c.reconcileBoth(n)
				c.fluxAlpha()
				if minute == 0 {
					c.equal("what alpha publishes at once", c.publishedByAlpha(), "falco")
				}
				if minute == 5 {
					c.restart()
					n.reconciler = c.reconciler
				}
				if test.busy != nil {
					test.busy(n)
				}
			}
			c.equal("the definition that the platform removes", c.kept("argocd"), "gone")
			c.ready("alpha")
			c.equal("what stays", c.get("alpha").Status.Leaving, []v1alpha1.LeavingStatus(nil))
		})
	}
}

// The same where the account of the platform may not mark anything.
func TestAStrangerDelaysARemovalWithoutTheRightToMark(t *testing.T) {
	for _, test := range strangers() {
		t.Run("one that "+test.name, func(t *testing.T) {
			c := moving(t)
			n := c.neighbor()
			test.come(n)
			c.runAs(read(platformGroup, "applicationdefinitions"), readKustomizations())
			c.catalog("argocd", "nginx", "falco", "loki")
			c.change("beta", without("argocd", "falco", "loki"))
			c.change("alpha", without("argocd", "nginx"))
			for _, minute := range minutes() {
				c.passed = minute * time.Minute
				c.reconcileBoth(n)
				c.fluxAlpha()
				if minute == 0 {
					c.equal("the definition, which alpha waits for", c.live("argocd") != nil, true)
				}
				if test.busy != nil {
					test.busy(n)
				}
			}
			c.equal("the definition that the platform removes", c.kept("argocd"), "gone")
			c.equal("what alpha publishes", c.publishedByAlpha(), "falco loki")
			c.ready("alpha")
		})
	}
}

// A reservation is the claim of an object that does not live. That a Kustomization has applied it is known from the
// owner labels of live objects; its status proves nothing.
func TestAReservationEndsWhateverAStatusSays(t *testing.T) {
	says := func(n *liveCluster) {
		n.reports("tenant", consumers.RevisionOf(n.get("tenant")))
		n.report("tenant", func(ks *kustomizev1.Kustomization) {
			ks.Status.Inventory = &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{}}
		})
	}
	for _, test := range []struct {
		name string
		// first claims nginx as the selection "tenant".
		first func(n *liveCluster)
		wait  time.Duration
		// then happens within the time, before the platform is reconciled again.
		then func(c, n *liveCluster)
	}{
		{"one that builds everything away owns nothing", func(n *liveCluster) {
			n.catalog("loki")
			n.selection("tenant", compared)
			n.consumer("tenant", "tenant", pruning)
			n.settle("tenant")
			says(n)
		}, 0, nil},
		{"one that has applied something else", func(n *liveCluster) {
			n.owningTempo()
			n.catalog("tempo", "loki")
			n.settle("tenant")
			says(n)
		}, 11 * time.Minute, nil},
		{"one that leaves an object of a kind that may not be read", func(n *liveCluster) {
			n.owningTempo()
			n.catalog("tempo", "loki")
			n.settle("tenant")
			says(n)
			n.settle("tenant")
			n.change("tenant", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true })
			cs := n.get("tenant")
			cs.Status.Leaving = []v1alpha1.LeavingStatus{{APIVersion: "v1", Kind: "Secret", Namespace: n.namespace, Name: "any", Since: metav1.NewTime(n.now())}}
			if err := apiServer.Status().Update(n.Context(), cs); err != nil {
				n.Fatal(err)
			}
			n.settle("tenant")
		}, 11 * time.Minute, nil},
		{"one whose selection takes it back and claims it again", func(n *liveCluster) {
			n.owningTempo()
			n.catalog("tempo", "loki")
			n.settle("tenant")
		}, 2 * time.Minute, func(c, n *liveCluster) {
			c.passed += 9 * time.Minute
			n.change("tenant", without("loki"))
			n.settle("tenant")
			n.change("tenant", without())
			n.settle("tenant")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := moving(t)
			c.runAs(read(platformGroup, "applicationdefinitions"), readKustomizations(), mark())
			n := c.neighbor()
			test.first(n)
			c.catalog("argocd", "nginx", "falco", "loki")
			c.settle("alpha")
			if test.wait > 0 {
				c.equal("the platform within the time", conditionsOf(c.get("alpha")), stalled("Conflict"))
			}
			if test.then != nil {
				test.then(c, n)
			}
			c.passed += test.wait
			c.settle("alpha")
			c.ready("alpha")
			n.settle("tenant")
			c.settle("alpha")
			c.ready("alpha")
		})
	}
}

// A selection whose Kustomizations are suspended, and have applied nothing that lives, reserves nothing.
func TestASuspendedKustomizationReservesNothing(t *testing.T) {
	suspended := func(ks *kustomizev1.Kustomization) { ks.Spec.Suspend, ks.Spec.Prune = true, true }
	for _, test := range []struct {
		name    string
		suspend func(n *liveCluster)
	}{
		{"from the beginning", func(n *liveCluster) {
			n.consumer("tenant", "tenant", suspended)
			n.settle("tenant")
		}},
		{"after it claimed something", func(n *liveCluster) {
			n.consumer("tenant", "tenant", pruning)
			n.settle("tenant")
			ks := n.kustomization("tenant")
			suspended(ks)
			if err := apiServer.Update(n.Context(), ks); err != nil {
				n.Fatal(err)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			n := c.neighbor()
			n.catalog("argocd")
			n.selection("tenant", compared)
			test.suspend(n)
			c.catalog("argocd")
			c.selection("platform", compared) // has applied nothing either
			c.consumer("platform", "platform", pruning)
			c.settle("platform")
			c.ready("platform")
			n.settle("tenant")
			c.settle("platform")
			c.ready("platform")
			c.flux("platform", "platform", "argocd")
			n.settle("tenant")
			n.equal("the artifact of the tenant", n.announced("tenant").Status.Artifact == nil, true)
		})
	}
}

// publishedByAlpha lists the applications in the announced archive of the selection "alpha".
func (c *liveCluster) publishedByAlpha() string {
	c.Helper()
	applied, _ := c.contents()
	return strings.Join(applied, " ")
}
