// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"net/http"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// A definition that joins the selection while it is bypassed gets one mark and loses the other, with one field
// manager.
func TestABypassSurvivesTheRemovalOfTheLabel(t *testing.T) {
	c := withOrphan(t)
	c.look()
	c.catalog("argocd", "falco")
	c.look()
	// A controller that was stopped between the publication and the removal of the label leaves this state.
	c.relabel("falco")
	c.bypass("falco")
	c.look()
	c.equal("marks", c.marks("falco"), []string{"disabled by winnow-marks"})
}

func TestTheSummaryCountsTheLabelled(t *testing.T) {
	c := withOrphan(t)
	c.create("tempo", "loki")
	c.bypass("loki")
	c.label("tempo", v1alpha1.UnmanagedLabel, "no")
	cs := c.look()
	c.equal("unmanaged", cs.Status.Summary.Unmanaged, 1)
	c.unlabel("tempo", v1alpha1.UnmanagedLabel)
	cs = c.look()
	c.equal("unmanaged, once it may be labelled", cs.Status.Summary.Unmanaged, 2)
	c.edit(without())
	cs = c.look()
	c.equal("unmanaged while the next revision is on its way", cs.Status.Summary.Unmanaged, 2)
	c.edit(unlabelling)
	c.look()
	c.applies("apps")
	cs = c.look()
	c.equal("unmanaged without the wish", cs.Status.Summary.Unmanaged, 0)
}

func TestALabelDoesNotRecreateADeletedOrphan(t *testing.T) {
	for _, test := range []struct {
		name      string
		request   int
		meanwhile func(c *liveCluster)
		want      []string
	}{
		{"deleted before it is labelled", 1, func(*liveCluster) {}, []string{"gone"}},
		{"created again before it is labelled", 1, func(c *liveCluster) { c.create("nginx") }, nil},
		{"deleted before it loses its labels", 2, func(*liveCluster) {}, []string{"gone"}},
		{"created again before it loses its labels", 2, func(c *liveCluster) { c.apply("kkp", "nginx") }, appliedAnd()},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := publishing(t)
			c.edit(labelling)
			c.edit(without("nginx"))
			c.look()
			c.applies("apps")
			c.awaitCaches()
			sent := 0
			c.wire.before = func(*http.Request) {
				if sent++; sent == test.request {
					c.remove(c.live("nginx"))
					test.meanwhile(c)
				}
			}
			c.reconcile("kkp")
			c.equal("marks", c.marks("nginx"), test.want)
		})
	}
}

// The labels of definitions that Flux has applied stay unchanged.
func TestObjectsInAnInventoryAreNoOrphans(t *testing.T) {
	c := publishing(t)
	c.edit(labelling)
	c.applies("apps")
	c.consumer("git", "", gitFed)
	c.flux("git", "other", "falco")
	c.create("zeta")
	c.rounds("kkp")
	c.equal("marks of a definition from Git", c.marks("falco"), []string{"label winnow", "label NAMESPACE", "label other"})
	c.equal("marks of a definition that no Kustomization has applied", c.marks("zeta"), []string{"unmanaged true by winnow-marks"})
}
