// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// restoreStatus puts an older status of a selection back, as a backup does.
func (c *liveCluster) restoreStatus(name string, old *v1alpha1.CatalogSelection) {
	c.Helper()
	cs := c.get(name)
	old.Status.DeepCopyInto(&cs.Status)
	if err := apiServer.Status().Update(c.Context(), cs); err != nil {
		c.Fatal(err)
	}
}

// The process knows what it has published. What a restored status lacks is served, and was not given up.
func TestARestoredStatusGivesUpNothing(t *testing.T) {
	c := moving(t)
	old := c.get("alpha")
	c.change("alpha", without("nginx"))
	c.rounds("alpha")
	c.fluxAlpha()
	c.rounds("alpha")
	c.restoreStatus("alpha", old)
	c.change("alpha", func(cs *v1alpha1.CatalogSelection) { guarded(cs); limited("falco")(cs) })
	c.rounds("alpha")
	c.equal("what is lost", lost(c.get("alpha")), []string{"Removal argocd 1.0.0"})
	c.change("beta", without("argocd"))
	c.rounds("beta", "alpha")
	c.equal("the receiver of what alpha serves", conditionsOf(c.get("beta")), stalled("Conflict"))
}

// A process that starts with a restored status does not know what the selection serves: what leaves is marked, and what
// the status lacks was not given up.
func TestAfterARestartARestoredStatusGivesUpNothing(t *testing.T) {
	for _, test := range []struct {
		name  string
		order []string
	}{
		{"the giver is reconciled first", []string{"alpha", "beta"}},
		{"the receiver is reconciled first", []string{"beta", "alpha"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := moving(t)
			old := c.get("alpha")
			c.change("alpha", without("nginx"))
			c.rounds("alpha")
			c.fluxAlpha()
			c.rounds("alpha")
			uid := c.live("falco").GetUID()

			c.restoreStatus("alpha", old)
			c.restart()
			c.change("alpha", without("nginx", "falco"))
			c.change("beta", without("argocd"))
			for range 4 {
				for _, name := range test.order {
					c.settle(name)
					if !slices.Contains(c.contents("alpha"), "falco") {
						c.equal("the mark of what left", c.kept("falco"), "disabled")
					}
				}
			}
			c.fluxAlpha()
			c.rounds("beta", "alpha")
			c.fluxAlpha()
			c.equal("the UID", c.live("falco") != nil && c.live("falco").GetUID() == uid, true)
			c.equal("the mark", c.kept("falco"), "disabled")
		})
	}
}

// What a selection without a status serves is not known: all that has the labels of its Kustomization may leave, also what the inventory
// has no more.
func TestASelectionWithoutAStatusWaitsForOthersForTenMinutesAtMost(t *testing.T) {
	c := moving(t)
	c.handOver()
	c.flux("alpha", "alpha", "falco")
	c.change("beta", without("argocd", "falco"))
	c.rounds("beta", "alpha")
	c.change("beta", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true })
	c.wipe("alpha")
	c.restart()
	c.rounds("beta", "alpha")
	c.equal("conditions", conditionsOf(c.get("alpha")), []string{"Held=Unknown Handover", "Ready=Unknown Handover", "Reconciling=True Handover"})
	c.pass(11 * time.Minute)
	c.rounds("beta", "alpha")
	c.ready("alpha")
	c.equal("the artifact", c.publishedByAlpha(), "falco")
}
