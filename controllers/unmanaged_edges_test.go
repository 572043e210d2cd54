package controllers

import (
	"net/http"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// TestABypassSurvivesThatTheLabelIsTakenBack: a definition that joins while it is bypassed gets
// one mark and loses the other, with one field manager.
func TestABypassSurvivesThatTheLabelIsTakenBack(t *testing.T) {
	c := withOrphan(t)
	c.look()
	c.catalog("argocd", "falco")
	c.look()
	// What a controller leaves that was stopped after the publication, and before it took the
	// label back.
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

func TestAnOrphanThatIsGoneMeanwhileIsNotMadeAnew(t *testing.T) {
	for _, test := range []struct {
		name      string
		request   int
		meanwhile func(c *liveCluster)
		want      []string
	}{
		{"deleted before it is labelled", 1, func(*liveCluster) {}, []string{"gone"}},
		{"made anew before it is labelled", 1, func(c *liveCluster) { c.create("nginx") }, nil},
		{"deleted before it loses its labels", 2, func(*liveCluster) {}, []string{"gone"}},
		{"made anew before it loses its labels", 2, func(c *liveCluster) { c.apply("kkp", "nginx") }, appliedAnd()},
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

// TestTheLabelsOfAnUnseenSelection: it may be another controller's, by its shard or its namespace.

// TestWhatAnInventoryHasIsNoOrphan: the labels of what Flux has applied are not touched.
func TestWhatAnInventoryHasIsNoOrphan(t *testing.T) {
	c := publishing(t)
	c.edit(labelling)
	c.applies("apps")
	c.consumer("git", "", gitFed)
	c.flux("git", "other", "falco")
	c.create("zeta")
	c.rounds("kkp")
	c.equal("marks of what is applied by Git", c.marks("falco"), []string{"label winnow", "label NAMESPACE", "label other"})
	c.equal("marks of what nobody has applied", c.marks("zeta"), []string{"unmanaged true by winnow-marks"})
}
