// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/holders"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// strangerFirst: a selection that is older than the receiver claims argocd as well, and never gets it.
func strangerFirst(t *testing.T) *liveCluster {
	c := newCluster(t)
	c.catalog("argocd", "nginx", "falco")
	c.selection("aaa", compared, without("nginx", "falco")) // the stranger: the oldest, or of the same second and first by name
	c.selection("alpha", compared, without("nginx", "falco"))
	c.selection("beta", compared, without("argocd", "falco"))
	c.consumer("alpha", "alpha", pruning)
	c.consumer("beta", "beta", pruning)
	c.settle("alpha", "beta")
	c.flux("alpha", "alpha", "argocd")
	c.flux("beta", "beta", "nginx")
	c.settle("alpha", "beta")
	c.ready("alpha", "beta")
	c.consumer("aaa", "aaa", pruning)
	c.settle("aaa")
	c.equal("the stranger", conditionsOf(c.get("aaa")), stalled("Conflict"))
	c.pass(11 * time.Minute)
	c.settle("aaa", "alpha", "beta")
	return c
}

// Who claims an object first, and never gets it, does not keep another one from receiving it.
func TestAnOldClaimOfAStrangerHidesNoReceiver(t *testing.T) {
	for _, there := range []bool{false, true} {
		t.Run(fmt.Sprint("stranger: ", there), func(t *testing.T) { aStrangerHides(t, there) })
	}
}

func aStrangerHides(t *testing.T, there bool) {
	c := strangerFirst(t)
	if !there {
		c.remove(c.get("aaa"))
		c.reconciled("aaa")
	}
	c.markWithout()
	c.change("beta", without("falco"))
	c.change("alpha", without("argocd", "nginx"))
	c.rounds("beta", "alpha")
	c.fluxAlpha()
	c.equal("argocd, which beta claims", c.live("argocd") != nil, true)
}

// What a stranger has claimed for long has ten minutes in the artifact, in which a receiver whose registry is down may claim it.
func TestWhatAStrangerClaimsStaysForAReceiver(t *testing.T) {
	c := strangerFirst(t)
	c.markWithout()
	artifact := c.secondSource()
	c.sources.Handle("/"+artifact.Path, unavailable)
	c.change("beta", func(cs *v1alpha1.CatalogSelection) {
		without("falco")(cs)
		cs.Spec.Sources[0].Name = "second"
	})
	c.change("alpha", without("argocd", "nginx"))
	_, _ = c.tryReconcile("beta")
	_, _ = c.tryReconcile("alpha")
	c.settle("alpha")
	c.mentions("what stays", c.keptBy("alpha"), "argocd")
	c.fluxAlpha()
	c.equal("argocd, which beta may receive", c.live("argocd") != nil, true)
}

// The ten minutes begin when the object begins to stay.
func TestAReceiverThatCameFirst(t *testing.T) {
	for _, after := range []time.Duration{time.Minute, 11 * time.Minute} {
		t.Run(after.String(), func(t *testing.T) { theReceiverCameFirst(t, after) })
	}
}

func theReceiverCameFirst(t *testing.T, after time.Duration) {
	c := moving(t)
	c.markWithout()
	c.selection("gamma", compared, without("nginx", "falco"))
	c.consumer("gamma", "gamma", pruning)
	c.settle("gamma")
	c.equal("gamma", conditionsOf(c.get("gamma")), stalled("Conflict"))
	c.pass(after)
	c.settle("gamma", "alpha")
	c.change("alpha", without("argocd", "nginx"))
	c.rounds("alpha", "gamma")
	c.fluxAlpha()
	c.equal("argocd, which gamma claims", c.live("argocd") != nil, true)
}

// An object that others write all the time is marked later, and not given up without a mark.
func TestAnObjectThatChangesWhileItIsMarked(t *testing.T) {
	c := moving(t)
	c.selection("gamma", compared, without("nginx", "falco"))
	c.consumer("gamma", "gamma", pruning)
	c.settle("gamma")
	c.pass(11 * time.Minute)
	c.settle("gamma", "alpha")
	c.change("alpha", without("argocd", "nginx"))
	c.awaitCaches()
	n := 0
	c.wire.before = func(r *http.Request) {
		if r.Method != http.MethodPatch || n >= 3 {
			return
		}
		n++
		u := c.live("argocd")
		u.Object["touched"] = int64(n)
		if err := apiServer.Update(context.Background(), u); err != nil {
			t.Error(err)
		}
	}
	_, _ = c.tryReconcile("alpha")
	c.wire.before = nil
	c.equal("tries", n, 3)
	c.fluxAlpha() // before alpha is reconciled again
	c.equal("argocd, which gamma claims", c.live("argocd") != nil, true)
}

// Neither of two that swap what may not be marked publishes its half, until the live objects are annotated by hand.
func TestASwapOfWhatMayNotBeMarked(t *testing.T) {
	c := moving(t)
	c.markWithout()
	c.change("alpha", without("argocd", "falco"))
	c.change("beta", without("nginx", "falco"))
	c.rounds("alpha", "beta")
	c.mentions("alpha", c.message("alpha"), "argocd is part of a swap, and may not be marked", pruneAnnotation+": disabled")
	c.equal("what alpha announces", c.contents("alpha"), []string{"argocd"})
	c.equal("what beta announces", c.contents("beta"), []string{"nginx"})
	for _, name := range []string{"argocd", "nginx"} {
		c.annotate(name, pruneAnnotation, disabled)
	}
	c.rounds("alpha", "beta")
	c.flux("alpha", "alpha", c.contents("alpha")...)
	c.flux("beta", "beta", c.contents("beta")...)
	c.rounds("alpha", "beta")
	c.equal("what both announce", [][]string{c.contents("alpha"), c.contents("beta")}, [][]string{{"nginx"}, {"argocd"}})
	c.ready("alpha", "beta")
}

// meanwhile reconciles a selection, and calls f before it writes the status of its ExternalArtifact.
func (c *liveCluster) meanwhile(selection string, f func()) {
	c.Helper()
	c.awaitCaches()
	called := false
	c.traffic.before = func(write string, object client.Object) error {
		if _, ok := object.(*sourcev1.ExternalArtifact); ok && object.GetName() == selection && write == artifactPatch {
			c.traffic.before, called = nil, true
			f()
			c.awaitCaches()
		}
		return nil
	}
	c.settle(selection)
	c.traffic.before = nil
	c.equal("called", called, true)
}

// A Kustomization that comes during a publication claims what that has, before anything else.
func TestAKustomizationThatComesDuringThePublication(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd")
	c.selection("beta", compared)
	c.consumer("beta", "beta", pruning)
	c.settle("beta")
	c.ready("beta")
	c.selection("alpha") // serve: Always
	c.meanwhile("alpha", func() {
		c.consumer("alpha", "alpha", pruning)
	})
	c.rounds("alpha", "beta")
	c.bothAnnounce()
}

// Who waits for what no selection gives up gives up nothing either.
func TestWhatAnotherSourceHoldsFreesNothing(t *testing.T) {
	c := moving(t)
	c.catalog("argocd", "nginx", "falco", "loki")
	c.change("alpha", without("nginx", "falco", "loki"))
	c.change("beta", without("argocd", "falco", "loki"))
	c.rounds("alpha", "beta")
	c.selection("gamma", compared, without("argocd", "nginx"))
	c.consumer("gamma", "gamma", pruning)
	c.settle("gamma")
	c.flux("gamma", "gamma", "falco", "loki")
	c.rounds("gamma")
	c.change("gamma", without("argocd", "nginx", "falco"))
	c.rounds("gamma")
	c.ready("gamma")
	c.change("gamma", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true })
	c.settle("gamma")
	c.consumer("git", "", gitFed)
	c.flux("gamma", "gamma", "loki")
	c.flux("git", "other", "falco")
	c.rounds("gamma")
	c.change("alpha", without("argocd", "nginx", "loki"))
	c.change("beta", without("falco", "loki"))
	c.rounds("alpha", "beta")
	c.equal("alpha, which waits for git", conditionsOf(c.get("alpha")), stalled("Conflict"))
	c.equal("beta, while alpha serves argocd", conditionsOf(c.get("beta")), stalled("Conflict"))
}

// Flux has fetched a revision, and applies an object of it after that has moved.
func TestFluxAppliesAnEarlierRevisionAfterAMove(t *testing.T) {
	c := moving(t)
	c.change("alpha", without("nginx")) // argocd falco
	c.rounds("alpha", "beta")
	c.ready("alpha")
	// Flux has fetched that, and is at work. falco moves to beta.
	c.change("alpha", without("nginx", "falco"))
	c.change("beta", without("argocd"))
	c.rounds("alpha", "beta")
	c.ready("alpha", "beta")
	c.apply("alpha", "falco")
	c.own("alpha", "falco")
	c.report("alpha", func(ks *kustomizev1.Kustomization) {
		ks.Status.Inventory.Entries = append(ks.Status.Inventory.Entries, kustomizev1.ResourceRef{ID: "_falco_" + c.group + "_ApplicationDefinition", Version: "v1"})
	})
	c.rounds("alpha", "beta")
	c.fluxAlpha()
	c.equal("falco, which beta claims", c.live("falco") != nil, true)
}

// Flux prunes by labels, also while it waits for health, and has not written its inventory.
func TestAnInventoryThatIsNotWrittenYet(t *testing.T) {
	for _, written := range []bool{true, false} {
		t.Run(fmt.Sprint("inventory written: ", written), func(t *testing.T) { theInventory(t, written) })
	}
}

func theInventory(t *testing.T, written bool) {
	c := moving(t)
	for _, name := range []string{"alpha", "beta"} {
		c.change(name, func(cs *v1alpha1.CatalogSelection) { cs.Labels = map[string]string{shardLabel: name} })
	}
	alpha, beta := c.shard("alpha"), c.shard("beta")
	if !written {
		c.report("alpha", func(ks *kustomizev1.Kustomization) { // Flux has applied, waits for health, and has not reported it
			ks.Status.Inventory, ks.Status.LastAppliedRevision = nil, ""
		})
	}
	for range 2 {
		alpha.run()
		beta.run()
	}
	alpha.change("alpha", without("argocd", "nginx"))
	alpha.awaitCaches()
	done := false
	alpha.traffic.before = func(write string, object client.Object) error {
		cs, ok := object.(*v1alpha1.CatalogSelection)
		if ok && !done && write == statusPatch && cs.Name == "alpha" && cs.Status.Claim != nil && !cs.Status.Claim.Pending {
			done = true
			beta.change("beta", without("falco"))
			beta.run()
			t.Logf("beta meanwhile: %v", conditionsOf(c.get("beta")))
		}
		return nil
	}
	_, _ = alpha.tryReconcile("alpha")
	c.equal("done", done, true)
	c.report("alpha", func(ks *kustomizev1.Kustomization) {
		ks.Status.Inventory = &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{{ID: "_argocd_" + c.group + "_ApplicationDefinition", Version: "v1"}}}
	})
	if got := c.get("alpha").Status.Claim; got != nil {
		t.Logf("claim %d published %d gives %d given", len(got.Published), len(got.Gives), len(got.Given))
	}
	alpha.traffic.before = nil
	alpha.run() // the publication was spoilt
	rec := c.get("alpha").Status.Summary
	t.Log(rec.Selected, conditionsOf(c.get("alpha")))
	alpha.flux("alpha", "alpha", "falco")
	c.equal("argocd, which beta claims", c.live("argocd") != nil, true)
}

func TestAKustomizationThatIsRepointedDuringThePublication(t *testing.T) {
	c := moving(t)
	c.change("beta", without("falco"))
	c.rounds("beta")
	c.equal("beta", conditionsOf(c.get("beta")), stalled("Conflict"))
	c.selection("new", compared, without("nginx", "falco"))
	c.meanwhile("new", func() {
		ks := c.kustomization("alpha")
		ks.Spec.SourceRef.Name = "new"
		if err := apiServer.Update(c.Context(), ks); err != nil {
			t.Error(err)
		}
	})
	key := holders.DigestOf(keyOf(c, "argocd"))
	claim := c.get("new").Status.Claim
	c.equal("new gives argocd", claim != nil && string(claim.Given) == string(key[:]), false)
	c.rounds("beta")
	c.equal("beta", conditionsOf(c.get("beta")), stalled("Conflict"))
}

func keyOf(c *liveCluster, name string) safeguard.Key {
	return safeguard.KeyOf(c.group, "ApplicationDefinition", "", name)
}

func TestASecondKustomizationThatComesDuringThePublication(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd", "x-argocd", "falco")
	c.selection("alpha", compared, without("x-argocd", "falco"))
	c.consumer("alpha", "alpha", pruning)
	c.settle("alpha")
	c.flux("alpha", "alpha", "argocd")
	c.settle("alpha")
	c.ready("alpha")
	c.selection("beta", compared, without("argocd", "falco"))
	c.consumer("beta", "beta", pruning)
	c.settle("beta")
	c.flux("beta", "beta", "x-argocd")
	c.settle("beta")
	c.ready("beta")
	c.change("alpha", without("x-argocd"))
	c.meanwhile("alpha", func() {
		c.consumer("second", "alpha", pruning, func(ks *kustomizev1.Kustomization) { ks.Spec.NamePrefix = "x-" })
	})
	c.rounds("alpha", "beta")
	c.equal("alpha, by its second Kustomization", conditionsOf(c.get("alpha")), stalled("Conflict"))
	c.bothAnnounce()
}

// releases never live under the name that both claim.
func TestOfTwoReleasesOneGivesWay(t *testing.T) {
	c := newCluster(t)
	c.serve(helmReleases())
	c.source(installable(t, "web:1.0.0@web"))
	c.selection("beta", installing(""), releasing("b", c.namespace, "web"))
	c.consumer("beta", "beta", pruning)
	c.settle("beta")
	c.ready("beta")
	c.selection("alpha", installing(""), releasing("a", c.namespace, "web"))
	c.meanwhile("alpha", func() {
		c.consumer("alpha", "alpha", pruning)
	})
	c.rounds("alpha", "beta")
	c.applyRelease("alpha", c.namespace, "web", "a", "a")
	c.applyRelease("beta", c.namespace, "web", "a", "b")
	for range 4 {
		c.pass(11 * time.Minute)
		c.rounds("alpha", "beta")
	}
	c.bothAnnounce()
}

// What a record that is too large does not tell, the claim does.
func TestTheClaimOfARecordThatIsTooLarge(t *testing.T) {
	c := newCluster(t)
	names := []string{"argocd"}
	for range 11000 {
		b := make([]byte, 31)
		_, _ = rand.Read(b)
		names = append(names, "x"+hex.EncodeToString(b))
	}
	c.catalog(append(names, "nginx")...)
	c.selection("alpha", compared, without("nginx"))
	c.consumer("alpha", "alpha", pruning)
	c.rounds("alpha")
	c.flux("alpha", "alpha", "argocd")
	c.rounds("alpha")
	cs := c.get("alpha")
	c.equal("the record is too large", cs.Status.WrittenRecord == nil, true)
	t.Log(conditionsOf(cs), c.message("alpha"), len(cs.Status.Claim.Published), len(cs.Status.Claim.Given))
	if len(cs.Status.Claim.Published) == 0 {
		t.Error("alpha claims nothing of what it publishes")
	}
	c.selection("beta", compared, limited("argocd"))
	c.consumer("beta", "beta", pruning)
	c.rounds("beta")
	c.equal("beta", conditionsOf(c.get("beta")), stalled("Conflict"))
	c.bothAnnounce()
}

func TestAReleaseThatStaysWithATargetNamespace(t *testing.T) {
	c := newCluster(t)
	n := c.tenants()
	target := n.namespace
	deleting := func(cs *v1alpha1.CatalogSelection) { cs.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete }
	c.selection("alpha", compared, deleting, installing("b=1.0.0"), releasing("a", c.namespace, "web"))
	c.consumer("alpha", "alpha", pruning, func(ks *kustomizev1.Kustomization) { ks.Spec.TargetNamespace = target })
	c.selection("beta", compared, deleting, installing("z=1.0.0"))
	c.consumer("beta", "beta", pruning)
	c.rounds("alpha", "beta")
	object := liveRelease(target, "a", map[string]any{"releaseName": "a", "targetNamespace": "web", "storageNamespace": c.namespace})
	object.SetLabels(map[string]string{"kustomize.toolkit.fluxcd.io/name": "alpha", "kustomize.toolkit.fluxcd.io/namespace": c.namespace})
	if err := apiServer.Create(c.Context(), object); err != nil {
		t.Fatal(err)
	}
	c.reports("alpha", c.get("alpha").Status.Artifact.Revision)
	c.report("alpha", func(ks *kustomizev1.Kustomization) {
		ks.Status.Inventory = &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{{ID: target + "_a_helm.toolkit.fluxcd.io_HelmRelease", Version: "v2"}}}
	})
	c.rounds("alpha")
	c.change("alpha", func(cs *v1alpha1.CatalogSelection) { delete(cs.Spec.Instances, "a") })
	c.change("beta", releasing("x", c.namespace, "web"))
	c.rounds("beta", "alpha")
	t.Log(conditionsOf(c.get("alpha")), c.keptBy("alpha"), conditionsOf(c.get("beta")))
	if kept := c.contents("alpha"); !slices.Contains(kept, "a") {
		t.Errorf("the artifact has %v: Flux deletes the HelmRelease of the release that moved", kept)
	}
}

// slow is the store of a watch that is behind.
type slow struct{ cache.ReflectorStore }

func (s slow) Update(o any) error {
	time.Sleep(400 * time.Millisecond)
	return s.ReflectorStore.Update(o)
}

func TestAViewThatIsBehindItsOwnPublication(t *testing.T) {
	c := moving(t)
	c.through = func(store cache.ReflectorStore) cache.ReflectorStore { return slow{store} }
	c.restart()
	c.settle("alpha", "beta")
	c.change("alpha", without("argocd", "falco"))
	c.change("beta", without("nginx", "falco"))
	for range 2 {
		for _, name := range []string{"alpha", "beta"} {
			c.settle(name)
			cs := c.get(name)
			t.Log(name, conditionsOf(cs), cs.Status.Withheld, c.message(name))
			if cs.Status.Withheld != "" {
				t.Errorf("%s is withheld", name)
			}
		}
	}
}

// What Flux neither updates nor deletes needs neither a mark nor a place in the artifact.
func TestWhatFluxLeavesAloneDoesNotStay(t *testing.T) {
	for _, excluded := range []bool{false, true} {
		t.Run(fmt.Sprint(excluded), func(t *testing.T) {
			c := moving(t)
			c.markWithout()
			if excluded {
				c.annotate("argocd", reconcileAnnotation, disabled) // by hand: Flux neither applies nor deletes it
			}
			c.change("beta", without("falco"))
			c.change("alpha", without("argocd", "nginx"))
			for range 5 {
				c.rounds("beta", "alpha")
				all := c.contents("alpha")
				c.flux("alpha", "alpha", all...)
				if !excluded && slices.Contains(all, "argocd") {
					c.annotate("argocd", pruneAnnotation, disabled)
				}
				c.pass(11 * time.Minute)
			}
			c.equal("what alpha publishes after 55 minutes", c.publishedByAlpha(), "falco")
			c.ready("beta")
		})
	}
}
