// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// bothAnnounce fails the test if alpha and beta announce an artifact.
func (c *liveCluster) bothAnnounce() {
	c.Helper()
	x, y := c.announced("alpha"), c.announced("beta")
	if x != nil && x.Status.Artifact != nil && y != nil && y.Status.Artifact != nil {
		c.Error("both alpha and beta announce an artifact with the object")
	}
}

// The time of the first wait of a selection stays after its publication: a later removal waits for nobody.
func TestALaterRemovalWaitsAsWell(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd", "nginx", "falco", "loki")
	c.selection("alpha", compared, without("nginx"))
	c.selection("beta", compared, without("argocd", "falco", "loki"))
	c.consumer("alpha", "alpha", pruning)
	c.consumer("beta", "beta", pruning)
	c.settle("alpha", "beta")
	c.flux("alpha", "alpha", "argocd", "falco", "loki")
	c.flux("beta", "beta", "nginx")
	c.rounds("alpha", "beta")
	c.change("alpha", without("nginx", "loki")) // the first removal
	c.rounds("alpha")
	c.flux("alpha", "alpha", "argocd", "falco")
	c.rounds("alpha", "beta")
	c.pass(time.Hour)
	c.settle("alpha", "beta")
	c.change("beta", without("falco", "loki")) // one commit moves argocd, and beta is evaluated later
	c.change("alpha", without("nginx", "loki", "argocd"))
	c.rounds("alpha")
	c.fluxAlpha()
	c.equal("argocd exists", c.live("argocd") != nil, true)
	c.rounds("beta", "alpha")
	c.fluxAlpha()
	c.equal("the mark", c.kept("argocd"), disabled)
}

// A claim that is stored after the giver looked for receivers, and before it publishes.
func TestAClaimBeforeTheGiverPublishes(t *testing.T) {
	c := moving(t)
	for _, name := range []string{"alpha", "beta"} {
		c.change(name, func(cs *v1alpha1.CatalogSelection) { cs.Labels = map[string]string{shardLabel: name} })
	}
	alpha, beta := c.shard("alpha"), c.shard("beta")
	for range 2 {
		alpha.run()
		beta.run()
	}
	alpha.change("alpha", without("argocd", "nginx"))
	alpha.onceClaimed(func() error {
		beta.change("beta", without("falco"))
		beta.run()
		c.equal("beta meanwhile", conditionsOf(beta.get("beta")), stalled("Conflict"))
		return nil
	})
	alpha.run()
	alpha.flux("alpha", "alpha", "falco") // before beta is reconciled again
	c.equal("argocd, which beta has claimed before alpha published", c.live("argocd") != nil, true)
}

// A receiver that owns nothing yet, and that has waited for the giver for long.
func TestAReceiverThatWaitsForLong(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd", "falco")
	c.selection("alpha", compared)
	c.consumer("alpha", "alpha", pruning)
	c.settle("alpha")
	c.flux("alpha", "alpha", "argocd", "falco")
	c.settle("alpha")
	c.selection("beta", compared, without("falco"))
	c.consumer("beta", "beta", pruning)
	c.rounds("beta", "alpha")
	c.equal("beta", conditionsOf(c.get("beta")), stalled("Conflict"))
	c.pass(11 * time.Minute) // somebody looks at the conflict
	c.rounds("beta", "alpha")
	c.change("alpha", without("argocd"))
	c.rounds("alpha")
	c.fluxAlpha()
	c.equal("argocd, which beta claims", c.live("argocd") != nil, true)
}

// A withheld artifact is announced again by each attempt, for a moment.
func TestAWithheldArtifactIsNotAnnouncedForAMoment(t *testing.T) {
	c := moving(t)
	c.consumer("git", "", gitFed)
	c.flux("git", "other", "argocd")
	c.settle("alpha")
	c.equal("withheld", c.get("alpha").Status.Withheld, "Conflict")
	for i := range 3 {
		c.awaitCaches()
		c.traffic.taken()
		c.traffic.before = func(write string, object client.Object) error {
			if artifact, ok := object.(*sourcev1.ExternalArtifact); ok && write == artifactPatch && artifact.Status.Artifact != nil {
				t.Errorf("attempt %d announces the artifact that is withheld", i)
			}
			return nil
		}
		c.settle("alpha")
		c.traffic.before = nil
	}
}

// What was given up is taken back, and nothing has applied either publication.
func TestWhatIsTakenBackTwice(t *testing.T) {
	c := moving(t)
	c.change("alpha", without("argocd", "nginx"))
	c.change("beta", without("falco"))
	c.rounds("alpha", "beta")
	c.ready("alpha", "beta")
	c.change("alpha", without("nginx", "falco"))
	for range 2 {
		c.settle("alpha")
		c.equal("conditions", conditionsOf(c.get("alpha")), stalled("Conflict"))
		c.equal("what alpha publishes", c.publishedByAlpha(), "falco")
	}
}

// What is served counts as published although no claim of it was stored.
func TestWhatIsServedWithoutAClaim(t *testing.T) {
	local := func(c *liveCluster, edit func(*kustomizev1.Kustomization)) {
		ks := c.kustomization("alpha")
		edit(ks)
		if err := apiServer.Update(c.Context(), ks); err != nil {
			c.Fatal(err)
		}
	}
	for _, test := range []struct {
		name    string
		before  []func(*kustomizev1.Kustomization)
		release func(c *liveCluster)
		back    func(c *liveCluster)
	}{
		{"the Kustomization is removed and created again", nil,
			func(c *liveCluster) { c.remove(c.kustomization("alpha")) },
			func(c *liveCluster) { c.consumer("alpha", "alpha", pruning) }},
		{"it applies to another cluster first", []func(*kustomizev1.Kustomization){remotely}, func(*liveCluster) {},
			func(c *liveCluster) { local(c, func(ks *kustomizev1.Kustomization) { ks.Spec.KubeConfig = nil }) }},
		{"it has another prefix first", []func(*kustomizev1.Kustomization){func(ks *kustomizev1.Kustomization) { ks.Spec.NamePrefix = "x-" }}, func(*liveCluster) {},
			func(c *liveCluster) { local(c, func(ks *kustomizev1.Kustomization) { ks.Spec.NamePrefix = "" }) }},
	} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprint(test.name, restarted), func(t *testing.T) {
				c := newCluster(t)
				c.catalog("argocd")
				c.selection("alpha", compared)
				c.selection("beta", compared)
				c.consumer("alpha", "alpha", append(test.before, pruning)...)
				c.consumer("beta", "beta", pruning)
				c.settle("alpha")
				c.ready("alpha")
				test.release(c)
				c.rounds("alpha", "beta")
				c.ready("beta")
				test.back(c)
				if restarted {
					c.restart()
				}
				c.rounds("alpha", "beta")
				c.bothAnnounce()
			})
		}
	}
}

// A second publication with the same object that stays says that it gives that up.
func TestWhatStaysIsNotGiven(t *testing.T) {
	c := unmarkable(t)
	c.equal("what alpha publishes", c.publishedByAlpha(), "argocd falco")
	c.catalog("argocd", "nginx", "falco", "loki")
	c.change("beta", without("falco", "loki"))
	c.awaitCaches()
	c.traffic.before = func(write string, _ client.Object) error {
		if write == artifactPatch {
			return errDead // the process ends between the status and the ExternalArtifact
		}
		return nil
	}
	_, _ = c.tryReconcile("alpha")
	c.traffic.before = nil
	c.settle("beta")
	c.equal("beta, while alpha publishes argocd", conditionsOf(c.get("beta")), stalled("Conflict"))
}

// A selection gives something up as soon as it gets what a third one gives up, and a fourth one has taken.
func TestWhatIsGivenIsTakenByAnother(t *testing.T) {
	c := moving(t)
	c.selection("gamma", compared, without("argocd", "nginx"))
	c.selection("delta", compared, without("argocd", "nginx", "falco"))
	c.catalog("argocd", "nginx", "falco", "loki")
	for name, more := range map[string][]string{"alpha": {"nginx", "falco", "loki"}, "beta": {"argocd", "falco", "loki"}, "gamma": {"argocd", "nginx", "loki"}, "delta": {"argocd", "nginx", "falco"}} {
		c.change(name, without(more...))
	}
	c.consumer("gamma", "gamma", pruning)
	c.consumer("delta", "delta", pruning)
	c.rounds("alpha", "beta", "gamma", "delta")
	c.flux("gamma", "gamma", "falco")
	c.flux("delta", "delta", "loki")
	c.flux("alpha", "alpha", "argocd")
	c.flux("beta", "beta", "nginx")
	c.rounds("alpha", "beta", "gamma", "delta")
	c.ready("alpha", "beta", "gamma", "delta")
	c.catalog("argocd", "nginx", "falco", "loki", "tempo")
	c.change("beta", without("argocd", "nginx", "falco", "loki")) // gives nginx, publishes tempo
	for name, more := range map[string][]string{"alpha": {"nginx", "falco", "loki", "tempo"}, "gamma": {"argocd", "loki", "tempo"}, "delta": {"argocd", "nginx", "falco", "tempo"}} {
		c.change(name, without(more...))
	}
	c.rounds("beta", "gamma", "delta", "alpha")
	c.ready("beta", "gamma") // gamma has published nginx, which beta has given
	c.change("alpha", without("argocd", "falco", "loki", "tempo"))
	c.rounds("alpha")
	c.equal("alpha, which waits for nginx", conditionsOf(c.get("alpha")), stalled("Conflict"))
	c.equal("alpha goes on with argocd", c.publishedByAlpha(), "argocd")
	c.change("delta", without("nginx", "falco", "tempo"))
	c.settle("delta")
	c.equal("delta, which claims argocd", conditionsOf(c.get("delta")), stalled("Conflict"))
	c.equal("what alpha announces", c.announced("alpha").Status.Artifact != nil, true)
}

// A claim that has waited for long is old as soon as it is published.
func TestAFreshPublicationIsNotOld(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd")
	for _, name := range []string{"alpha", "beta", "gamma"} {
		c.selection(name, compared)
		c.consumer(name, name, pruning)
	}
	c.settle("alpha", "beta")
	c.ready("alpha")
	c.equal("beta", conditionsOf(c.get("beta")), stalled("Conflict"))
	c.pass(9 * time.Minute)
	c.settle("alpha", "beta")
	c.pass(2 * time.Minute)
	c.settle("beta")
	c.ready("beta") // alpha has applied nothing for 11 minutes
	c.settle("gamma")
	c.equal("gamma, in the same second", conditionsOf(c.get("gamma")), stalled("Conflict"))
}

// What is applied is in no claim, and a live object that is gone belongs to nobody while its selection fails.
func TestWhatIsServedAndDeletedByHand(t *testing.T) {
	for _, test := range []struct {
		name string
		stop func(c *liveCluster)
	}{
		{"suspended", func(c *liveCluster) {
			c.change("alpha", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true })
		}},
		{"without a source", func(c *liveCluster) {
			c.change("alpha", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "none" })
		}},
		{"ready", func(*liveCluster) {}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := moving(t)
			c.change("alpha", without("nginx")) // owns falco as well, like beta owns nginx
			c.rounds("alpha")
			c.flux("alpha", "alpha", "argocd", "falco")
			c.rounds("alpha", "beta")
			test.stop(c)
			c.rounds("alpha")
			c.remove(c.live("argocd"))
			c.rounds("alpha")
			c.change("beta", without("falco"))
			c.rounds("beta")
			c.equal("alpha announces it", c.announced("alpha").Status.Artifact != nil, true)
			c.equal("beta", conditionsOf(c.get("beta")), stalled("Conflict"))
		})
	}
}

// A selection of a tenant that waits for something else, and that cannot publish, has to be spoilt all the same: each write to it
// makes the publication of the platform a conflict.
func TestAStrangerThatIsAnnotatedWithoutEnd(t *testing.T) {
	c := moving(t)
	n := c.neighbor()
	c.catalog("argocd", "nginx", "falco", "loki")
	c.change("beta", without("argocd", "falco", "loki"))
	n.catalog("loki", "nginx") // nginx is beta's
	n.selection("waiter", compared)
	n.consumer("waiter", "waiter", pruning)
	c.settle("beta")
	n.settle("waiter")
	n.equal("the stranger", conditionsOf(n.get("waiter")), stalled("Conflict"))
	edits := 0
	annotate := func(write string, object client.Object) error {
		if cs, ok := object.(*v1alpha1.CatalogSelection); ok && write == statusPatch && cs.Namespace == n.namespace {
			edits++
			cs := n.get(cs.Name)
			cs.Annotations = map[string]string{"edit": fmt.Sprint(edits)}
			n.update(cs)
		}
		return nil
	}
	c.change("alpha", without("nginx", "falco"))
	for range 15 {
		_, _ = n.tryReconcile("waiter")
		c.awaitCaches()
		c.traffic.before = annotate
		_, _ = c.tryReconcile("alpha")
		c.traffic.before = nil
		c.pass(time.Minute)
	}
	c.equal("what alpha publishes", c.publishedByAlpha(), "argocd loki")
}

// The older selection waits for what the younger one owns, and so never publishes. What it claims besides, it keeps from the
// younger one for ever.
func TestWhoWaitsForTheOtherReservesNothing(t *testing.T) {
	c := moving(t)
	c.catalog("argocd", "nginx", "falco", "loki")
	c.change("alpha", without("falco")) // argocd is its own, nginx is beta's, loki is nobody's
	c.settle("alpha")
	c.change("beta", without("argocd", "falco"))
	for range 5 {
		c.rounds("alpha", "beta")
		c.pass(11 * time.Minute)
	}
	c.equal("alpha", conditionsOf(c.get("alpha")), stalled("Conflict"))
	c.ready("beta")
}

// pausedBody is the body of a watch that tells nothing while it is paused.
type pausedBody struct {
	io.ReadCloser
	paused *atomic.Bool
}

func (b pausedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for b.paused.Load() {
		time.Sleep(time.Millisecond)
	}
	return n, err
}

type pausing struct {
	http.RoundTripper
	paused *atomic.Bool
}

func (p pausing) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := p.RoundTripper.RoundTrip(r)
	if err == nil && r.URL.Query().Get("watch") != "" && strings.Contains(r.URL.Path, "applicationdefinitions") {
		response.Body = pausedBody{response.Body, p.paused}
	}
	return response, err
}

// The cache still has the mark that this process has removed a moment ago: what moves on is not marked again.
func TestAMarkThatTheCacheStillHas(t *testing.T) {
	c := moving(t)
	c.catalog("argocd", "nginx", "falco", "loki")
	c.change("alpha", without("nginx", "falco", "loki"))
	c.change("beta", without("argocd", "falco", "loki"))
	c.rounds("alpha", "beta")
	c.selection("gamma", compared, without("argocd", "nginx", "falco"))
	c.consumer("gamma", "gamma", pruning)
	c.settle("gamma")
	c.flux("gamma", "gamma", "loki")
	paused := &atomic.Bool{}
	defer paused.Store(false)
	c.restartWith(func(o *Options) {
		o.Config = rest.CopyConfig(restConfig)
		o.Config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return pausing{rt, paused} })
	})
	c.actAs(restConfig, "")
	c.change("alpha", without("argocd", "nginx", "loki"))
	c.change("beta", without("falco", "loki"))
	c.rounds("alpha", "beta")
	c.flux("alpha", "alpha", "falco")
	c.flux("beta", "beta", "argocd", "nginx")
	c.equal("the mark of the first move", c.kept("argocd"), disabled)
	c.change("gamma", without("nginx", "falco"))
	c.settle("gamma")
	c.change("beta", without("argocd", "falco", "loki"))
	c.awaitCaches()
	c.reconciler.settleDelay = 30 * time.Second
	c.followed = nil
	paused.Store(true)
	_, _ = c.tryReconcile("beta") // waits, and ends the first move
	c.pass(31 * time.Second)
	_, _ = c.tryReconcile("beta")
	c.flux("beta", "beta", "nginx")
	paused.Store(false)
	c.equal("argocd, which gamma claims", c.live("argocd") != nil, true)
}
