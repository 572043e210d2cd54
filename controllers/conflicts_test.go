// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// rivals returns a cluster with two selections of argocd and nginx that apply to it: "alpha", which has
// published, and "beta", which was not reconciled. Of the same second, beta is younger by its name.
func rivals(t *testing.T) *liveCluster {
	t.Helper()
	c := newCluster(t)
	c.catalog("argocd", "nginx")
	c.selection("alpha")
	c.selection("beta")
	c.consumer("alpha", "alpha")
	c.consumer("beta", "beta")
	c.publish("alpha")
	c.takeEnqueued()
	return c
}

// takeEnqueued returns the selections of this test that were enqueued since the last call, sorted.
func (c *liveCluster) takeEnqueued() []string {
	var names []string
	for {
		select {
		case e := <-c.reconciler.enqueued:
			if strings.HasPrefix(e.Object.GetNamespace(), c.namespace) {
				names = append(names, e.Object.GetName())
			}
		default:
			slices.Sort(names)
			return slices.Compact(names)
		}
	}
}

func (c *liveCluster) change(name string, f func(*v1alpha1.CatalogSelection)) {
	c.Helper()
	cs := c.get(name)
	f(cs)
	c.update(cs)
}

func (c *liveCluster) settle(names ...string) {
	c.Helper()
	for _, name := range names {
		c.awaitCaches()
		c.reconciled(name)
	}
}

func TestTheYoungerOfTwoIsInConflict(t *testing.T) {
	c := rivals(t)
	c.settle("beta")
	cs := c.get("beta")
	c.equal("conditions", conditionsOf(cs), stalled("Conflict"))
	c.equal("message", conditions.GetMessage(cs, meta.ReadyCondition), "the CatalogSelection "+c.namespace+
		"/alpha holds argocd, nginx as well; exclude them by spec.exclude here, or there to move them here; nothing is deleted")
	if c.announced("beta") != nil || cs.Status.Artifact != nil {
		t.Error("the younger one has published")
	}
	c.settle("alpha")
	c.publish("alpha")
}

func TestSelectionsInConflict(t *testing.T) {
	type step = func(c *liveCluster)
	exclude := func(name string, apps ...string) step {
		return func(c *liveCluster) { c.change(name, without(apps...)) }
	}
	suspend := func(c *liveCluster) {
		c.change("alpha", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true })
	}
	move := func(name string) step {
		return func(c *liveCluster) {
			c.remove(c.kustomization(name))
			c.consumer(name+"-remote", name, remotely)
		}
	}
	settle := func(names ...string) step { return func(c *liveCluster) { c.settle(names...) } }
	ready, conflict := []string{"Ready=True Succeeded"}, stalled("Conflict")
	for _, test := range []struct {
		name  string
		steps []step
		want  []string
	}{
		{"both hold the same", nil, conflict},
		{"they share a single definition", []step{exclude("beta", "nginx")}, conflict},
		{"they share nothing", []step{exclude("alpha", "nginx"), settle("alpha"), exclude("beta", "argocd")}, ready},
		{"the older one is suspended", []step{suspend, settle("alpha")}, conflict},
		{"the older one is suspended, after a restart", []step{suspend, (*liveCluster).restart}, conflict},
		{"after a restart", []step{(*liveCluster).restart}, conflict},
		{"the older one applies to another cluster", []step{move("alpha"), settle("alpha")}, ready},
		{"the younger one applies to another cluster", []step{move("beta")}, ready},
		{"the older one has no consumer", []step{func(c *liveCluster) { c.remove(c.kustomization("alpha")) }, settle("alpha")}, ready},
		{"the younger one has no consumer", []step{func(c *liveCluster) { c.remove(c.kustomization("beta")) }}, ready},
		{"the older one has a local consumer beside a remote one", []step{func(c *liveCluster) { c.consumer("far", "alpha", remotely) }}, conflict},
		{"the older one is being deleted", []step{func(c *liveCluster) { c.remove(c.get("alpha")) }}, ready},
		{"the older one was narrowed, and has not published yet", []step{exclude("alpha", "argocd"), exclude("beta", "nginx")}, conflict},
		{"the older one was narrowed", []step{exclude("alpha", "argocd"), settle("alpha"), exclude("beta", "nginx")}, ready},
		{"the older one grew again", []step{exclude("alpha", "argocd"), settle("alpha"), exclude("beta", "nginx"), settle("beta"),
			exclude("alpha"), settle("alpha")}, ready}, // the younger one has it now
	} {
		t.Run(test.name, func(t *testing.T) {
			c := rivals(t)
			for _, step := range test.steps {
				step(c)
			}
			c.settle("beta")
			c.equal("conditions of the younger one", conditionsOf(c.get("beta")), test.want)
			c.settle("beta")
			c.equal("conditions after a repetition", conditionsOf(c.get("beta")), test.want)
		})
	}
}

func TestTheYoungerRecovers(t *testing.T) {
	for _, test := range []struct {
		name  string
		cause func(c *liveCluster)
		// reconciled is the selection that detects the change; the watch of a kind if empty.
		reconciled string
	}{
		{"when the older one is deleted", func(c *liveCluster) { c.remove(c.get("alpha")) }, "alpha"},
		{"when the older one is narrowed", func(c *liveCluster) {
			c.change("alpha", without("argocd"))
			c.change("beta", without("nginx"))
		}, "alpha"},
		{"when the older one loses its consumer", func(c *liveCluster) { c.remove(c.kustomization("alpha")) }, "alpha"},
		{"when the consumer of the older one moves away", func(c *liveCluster) {
			ks := c.kustomization("alpha")
			remotely(ks)
			if err := apiServer.Update(c.Context(), ks); err != nil {
				c.Fatal(err)
			}
		}, "alpha"},
		{"when its own consumer is removed", func(c *liveCluster) { c.remove(c.kustomization("beta")) }, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := rivals(t)
			c.settle("alpha", "beta")
			c.equal("conditions before", conditionsOf(c.get("beta")), stalled("Conflict"))
			c.takeEnqueued()
			test.cause(c)
			if test.reconciled != "" {
				c.settle(test.reconciled)
			}
			c.awaitEnqueued("beta")
			c.settle("beta")
			c.publish("beta")
		})
	}
}

// awaitEnqueued waits until a selection is enqueued.
func (c *liveCluster) awaitEnqueued(name string) {
	c.Helper()
	c.await(name+" to be enqueued", func() bool { return slices.Contains(c.takeEnqueued(), name) })
}

func TestAConflictKeepsTheLastArtifact(t *testing.T) {
	c := rivals(t)
	c.change("beta", without("argocd", "nginx"))
	c.catalog("argocd", "nginx", "falco")
	c.change("alpha", without("falco"))
	c.settle("alpha")
	c.settle("beta")
	good, announced := c.publish("beta")
	c.change("beta", without("nginx"))
	c.events.take()
	c.settle("beta")
	cs := c.get("beta")
	c.equal("conditions", conditionsOf(cs), stalled("Conflict"))
	c.equal("the ExternalArtifact", c.announced("beta"), announced)
	c.equal("artifact", cs.Status.Artifact, good.Status.Artifact)
	c.equal("events", c.events.take(), []string{"Warning Conflict CatalogSelection", "Warning Conflict ExternalArtifact"})
	if len(c.download(announced)) == 0 {
		t.Error("the last artifact is not served")
	}
	c.settle("beta")
	c.equal("events of a repetition", c.events.take(), []string(nil))
}
