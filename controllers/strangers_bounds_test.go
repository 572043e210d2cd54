// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

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
	// claims is true for one that claims the object, and false for one that may be about to.
	claims bool
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
		}, nil, false},
		{"has neither, and is edited without end", func(n *liveCluster) {
			n.selection("tenant", compared, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "none" })
		}, func(n *liveCluster) { n.busily("tenant") }, false},
		{"is held", func(n *liveCluster) {
			n.owningTempo()
			n.catalog("argocd")
			n.change("tenant", func(cs *v1alpha1.CatalogSelection) { guarded(cs); compared(cs) })
			n.settle("tenant")
		}, nil, true},
		{"is suspended", func(n *liveCluster) {
			n.owningTempo()
			n.change("tenant", without("argocd"))
			n.settle("tenant")
			n.catalog("argocd", "tempo")
			n.change("tenant", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend, cs.Spec.Exclude = true, nil })
		}, nil, false},
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
		}, func(n *liveCluster) { n.busily("tenant") }, true},
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

// A stranger that may be about to claim an object delays its removal for ten minutes at most, whatever the stranger edits. What it
// claims is left to it.
func TestAStrangerDelaysARemovalForTenMinutesAtMost(t *testing.T) {
	for _, test := range strangers() {
		t.Run("one that "+test.name, func(t *testing.T) {
			c := moving(t)
			n := c.neighbor()
			test.come(n)
			c.change("alpha", without("argocd", "nginx"))
			for _, minute := range minutes() {
				c.clock.Store(int64(minute * time.Minute))
				c.reconcileBoth(n)
				c.fluxAlpha()
				if test.busy != nil {
					test.busy(n)
				}
			}
			c.equal("the definition that the platform removes", c.kept("argocd"), map[bool]string{false: "gone", true: disabled}[test.claims])
			c.equal("what alpha publishes", c.publishedByAlpha(), "falco")
			c.ready("alpha")
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
			c.markWithout()
			c.catalog("argocd", "nginx", "falco", "loki")
			c.change("beta", without("argocd", "falco", "loki"))
			c.change("alpha", without("argocd", "nginx"))
			for _, minute := range minutes() {
				c.clock.Store(int64(minute * time.Minute))
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

// That a Kustomization has applied something is known from the owner labels of live objects; its status proves nothing. Who owns
// something like what it claims could apply that itself, so its claim stays.
func TestAClaimCountsByWhatItsKustomizationOwns(t *testing.T) {
	says := func(n *liveCluster) {
		n.reports("tenant", consumers.RevisionOf(n.get("tenant")))
		n.report("tenant", func(ks *kustomizev1.Kustomization) {
			ks.Status.Inventory = &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{}}
		})
	}
	for _, test := range []struct {
		name string
		// first claims loki as the selection "tenant".
		first func(n *liveCluster)
		ready bool
	}{
		{"one that builds everything away owns nothing", func(n *liveCluster) {
			n.catalog("loki")
			n.selection("tenant", compared)
			n.consumer("tenant", "tenant", pruning)
			n.settle("tenant")
			says(n)
		}, true},
		{"one that has applied something else", func(n *liveCluster) {
			n.owningTempo()
			n.catalog("tempo", "loki")
			n.settle("tenant")
			says(n)
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := moving(t)
			c.runAs(read(platformGroup, "applicationdefinitions"), readKustomizations(), mark())
			n := c.neighbor()
			test.first(n)
			c.catalog("argocd", "nginx", "falco", "loki")
			want := stalled("Conflict")
			if test.ready {
				want = []string{"Ready=True Succeeded"}
			}
			for range 2 {
				c.settle("alpha")
				c.equal("conditions of the platform", conditionsOf(c.get("alpha")), want)
				c.pass(11 * time.Minute)
				n.settle("tenant")
			}
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
	return strings.Join(c.contents("alpha"), " ")
}
