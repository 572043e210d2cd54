// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// A placeholder is of no application that a patch of all of them expects.
func TestAPatchThatFitsNoPlaceholder(t *testing.T) {
	for _, test := range []struct {
		name  string
		early bool
	}{{"of the removal", true}, {"of a later edit", false}} {
		t.Run(test.name, func(t *testing.T) {
			c := moving(t)
			n := c.neighbor()
			n.selection("tenant", compared, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "none" })
			patched := func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Patches = []kustomize.Patch{{
					Patch:  "- {op: test, path: /metadata/name, value: falco}\n- {op: add, path: /spec/description, value: ours}",
					Target: &kustomize.Selector{Kind: "ApplicationDefinition"},
				}}
			}
			c.change("alpha", func(cs *v1alpha1.CatalogSelection) {
				without("argocd", "nginx")(cs)
				if test.early {
					patched(cs)
				}
			})
			c.reconcileBoth(n)
			c.fluxAlpha()
			if !test.early {
				c.change("alpha", patched)
				c.reconcileBoth(n)
			}
			c.ready("alpha")
			c.passed += 11 * time.Minute
			c.reconcileBoth(n)
			c.fluxAlpha()
			c.ready("alpha")
			c.equal("the definition that the platform removes", c.kept("argocd"), "gone")
		})
	}
}

// patchAlpha sets the patches of the Kustomization alpha.
func (c *liveCluster) patchAlpha(patches ...kustomize.Patch) {
	c.Helper()
	ks := c.kustomization("alpha")
	ks.Spec.Patches = patches
	if err := apiServer.Update(c.Context(), ks); err != nil {
		c.Fatal(err)
	}
}

// undecided makes a neighbor that may select anything, and lets alpha give up argocd for falco.
func (c *liveCluster) undecided() *liveCluster {
	c.Helper()
	n := c.neighbor()
	n.selection("tenant", compared, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "none" })
	c.change("alpha", without("argocd", "nginx"))
	return n
}

// Flux applies nothing at all while a patch of a Kustomization fails on a placeholder, and applies a placeholder that a
// patch makes an object of: the last artifact stays instead, for as long as the placeholder would.
func TestAPatchOfAKustomizationThatFitsNoPlaceholder(t *testing.T) {
	target := &kustomize.Selector{Kind: "ApplicationDefinition"}
	for name, patch := range map[string]kustomize.Patch{
		"an operation on a field that it lacks": {Patch: "- {op: replace, path: /spec/description, value: ours}", Target: target},
		"a test":                                {Patch: "- {op: test, path: /spec/versions/0/version, value: 1.0.0}", Target: target},
		"other annotations":                     {Patch: "- {op: add, path: /metadata/annotations, value: {a: b}}", Target: target},
	} {
		t.Run(name, func(t *testing.T) {
			c := moving(t)
			c.patchAlpha(patch)
			n := c.undecided()
			c.reconcileBoth(n)
			applied, placeholders := c.contents()
			c.equal("the artifact", []any{applied, placeholders}, []any{[]string{"argocd"}, []string(nil)})
			c.equal("conditions", conditionsOf(c.get("alpha")), []string{"Ready=Unknown Handover", "Reconciling=True Handover"})
			c.mentions("Ready", c.message("alpha"), "Kustomization "+c.namespace+"/alpha", "spec.patches", "annotationSelector", "reconcile!=disabled")
			c.passed += 11 * time.Minute
			c.reconcileBoth(n)
			c.fluxAlpha()
			c.equal("the definition that alpha removes", c.kept("argocd"), "gone")
			c.equal("what alpha publishes", c.publishedByAlpha(), "falco")
			c.ready("alpha")
		})
	}
}

func TestAPatchOfAKustomizationThatFitsPlaceholders(t *testing.T) {
	const replaced = "- {op: replace, path: /spec/description, value: ours}"
	for name, patch := range map[string]kustomize.Patch{
		"of a label": {
			Patch: "apiVersion: v1\nkind: X\nmetadata: {name: x, labels: {team: a}}\n", Target: &kustomize.Selector{Kind: "ApplicationDefinition"},
		},
		"of another object": {Patch: replaced, Target: &kustomize.Selector{Name: "falco"}},
		"that spares them":  {Patch: replaced, Target: &kustomize.Selector{AnnotationSelector: "kustomize.toolkit.fluxcd.io/reconcile!=disabled"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := moving(t)
			c.patchAlpha(patch)
			c.reconcileBoth(c.undecided())
			applied, placeholders := c.contents()
			c.equal("the artifact", []any{applied, placeholders}, []any{[]string{"falco"}, []string{"argocd"}})
			c.ready("alpha")
		})
	}
}

// With a placeholder in the artifact, the wait ends as without: the patch goes, or the placeholder.
func TestAPatchThatFollowsAPlaceholder(t *testing.T) {
	unfit := kustomize.Patch{Patch: "- {op: remove, path: /spec}", Target: &kustomize.Selector{Kind: "ApplicationDefinition"}}
	c := moving(t)
	n := c.undecided()
	c.reconcileBoth(n)
	c.ready("alpha")
	c.patchAlpha(unfit)
	c.reconcileBoth(n)
	c.equal("conditions", conditionsOf(c.get("alpha")), []string{"Ready=Unknown Handover", "Reconciling=True Handover"})
	applied, placeholders := c.contents()
	c.equal("the artifact", []any{applied, placeholders}, []any{[]string{"falco"}, []string{"argocd"}})
	c.patchAlpha()
	c.reconcileBoth(n)
	c.ready("alpha")
	c.patchAlpha(unfit)
	c.passed += 11 * time.Minute
	c.reconcileBoth(n)
	c.fluxAlpha()
	c.equal("the definition that alpha removes", c.kept("argocd"), "gone")
	c.ready("alpha")
}

// A Kustomization of another namespace that owns nothing of what leaves delays no publication.
func TestAPatchOfAStrangerDelaysNothing(t *testing.T) {
	c := moving(t)
	n := c.undecided()
	n.consumer("tenant", "alpha", pruning, func(ks *kustomizev1.Kustomization) {
		ks.Spec.SourceRef.Namespace = c.namespace
		ks.Spec.Patches = []kustomize.Patch{{Patch: "- {op: remove, path: /spec}", Target: &kustomize.Selector{}}}
	})
	c.reconcileBoth(n)
	applied, placeholders := c.contents()
	c.equal("the artifact", []any{applied, placeholders}, []any{[]string{"falco"}, []string{"argocd"}})
	c.ready("alpha")
}

// An object that is selected again does not leave any more, also if that render is not published: when it leaves later, the
// time for its receivers begins then.
func TestAnObjectThatIsSelectedAgainLeavesAnew(t *testing.T) {
	c := moving(t)
	c.runAs(read(platformGroup, "applicationdefinitions"), readKustomizations()) // and marks nothing, so that alpha waits
	c.change("beta", without("falco"))
	c.change("alpha", without("argocd", "nginx"))
	c.rounds("beta", "alpha")
	c.equal("objects that leave", len(c.get("alpha").Status.Leaving), 1)
	c.change("alpha", without("falco"))
	c.rounds("alpha")
	c.equal("conditions of a render with an object of beta", conditionsOf(c.get("alpha")), stalled("Conflict"))
	c.equal("objects that leave then", len(c.get("alpha").Status.Leaving), 0)
	c.passed += 11 * time.Minute
	c.change("alpha", without("argocd", "nginx"))
	c.rounds("beta", "alpha")
	c.equal("conditions of the giver", conditionsOf(c.get("alpha")), []string{"Ready=Unknown Handover", "Reconciling=True Handover"})
	c.equal("what alpha publishes", c.publishedByAlpha(), "argocd")
}

// While no controller runs, no receiver can take an object over: that time is not theirs.
func TestATimeWithoutAControllerIsNotTheReceivers(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd", "falco")
	c.selection("alpha", compared)
	c.consumer("alpha", "alpha", pruning)
	c.settle("alpha")
	c.flux("alpha", "alpha", "argocd", "falco")
	c.settle("alpha")
	c.selection("gamma", compared, without("falco"))
	c.consumer("gamma", "gamma", pruning)
	c.change("alpha", without("argocd"))
	_, _ = c.tryReconcile("alpha") // the first attempt
	c.equal("objects that leave", len(c.get("alpha").Status.Leaving), 1)
	c.passed += 11 * time.Minute
	c.restart()
	c.rounds("alpha")
	c.fluxAlpha()
	c.equal("the definition that gamma selects", c.live("argocd") != nil, true)
	c.rounds("gamma")
	c.passed += 6 * time.Minute
	c.rounds("gamma", "alpha")
	c.fluxAlpha()
	c.equal("the definition that gamma has not applied in time", c.kept("argocd"), "gone")
}

// The labels of a HelmRelease of its own namespace are the tenant's to set: they do not show that its Kustomization can
// apply definitions.
func TestAReceiverOwnsSomethingOfTheKind(t *testing.T) {
	c := moving(t)
	c.serve(helmReleases())
	n := c.neighbor()
	n.source(installable(t, "web:1.0.0@web argocd:1.0.0@argocd"))
	n.selection("tenant", compared, without("argocd"), installing("a=1.0.0"), func(cs *v1alpha1.CatalogSelection) { cs.Spec.Definitions = "" })
	n.consumer("tenant", "tenant", pruning)
	n.settle("tenant")
	release := liveRelease(n.namespace, "a", map[string]any{"releaseName": "a", "targetNamespace": "web"})
	release.SetLabels(map[string]string{"kustomize.toolkit.fluxcd.io/name": "tenant", "kustomize.toolkit.fluxcd.io/namespace": n.namespace})
	n.environment.create(release)
	n.settle("tenant")
	n.change("tenant", without())
	c.change("alpha", without("argocd", "nginx"))
	for range 12 {
		c.reconcileBoth(n)
		c.fluxAlpha()
		c.passed += time.Minute
	}
	c.equal("the definition that the platform removes", c.kept("argocd"), "gone")
	c.ready("alpha")
}

// A Kustomization of another namespace would name the remaining definition as that which moves, and applies neither.
func TestAPrefixOfAStrangerKeepsNoObjectFromMoving(t *testing.T) {
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprintf("late %t", late), func(t *testing.T) {
			c := movingOf(t, "my-falco")
			n := c.neighbor()
			n.selection("tenant", compared, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "none" })
			stranger := func(ks *kustomizev1.Kustomization) {
				ks.Spec.SourceRef.Namespace, ks.Spec.NamePrefix = c.namespace, "my-"
			}
			if !late {
				n.consumer("stranger", "alpha", stranger)
			}
			c.change("alpha", without("my-falco", "nginx"))
			c.reconcileBoth(n)
			c.fluxAlpha()
			if late {
				n.consumer("stranger", "alpha", stranger)
			}
			c.reconcileBoth(n)
			c.fluxAlpha()
			applied, placeholders := c.contents()
			c.equal("the artifact", []any{applied, placeholders}, []any{[]string{"falco"}, []string{"my-falco"}})
			c.change("beta", without("falco"))
			c.rounds("alpha", "beta")
			c.equal("the mark", c.kept("my-falco"), disabled)
			c.fluxAlpha()
			c.flux("beta", "beta", "nginx", "my-falco")
			c.rounds("alpha", "beta")
			c.ready("alpha", "beta")
		})
	}
}

// Beside a Kustomization in the namespace of the selection, one of another namespace has applied the artifact as well.
func TestAnObjectOfADistantKustomizationIsMarked(t *testing.T) {
	c := moving(t)
	n := c.undecided()
	n.consumer("distant", "alpha", pruning, func(ks *kustomizev1.Kustomization) {
		ks.Spec.SourceRef.Namespace, ks.Spec.NamePrefix = c.namespace, "pre-"
	})
	c.apply("alpha", "pre-argocd")
	n.own("distant", "pre-argocd")
	c.reconcileBoth(n)
	c.equal("the marks", []string{c.kept("argocd"), c.kept("pre-argocd")}, []string{disabled, disabled})
	applied, placeholders := c.contents()
	c.equal("the artifact", []any{applied, placeholders}, []any{[]string{"falco"}, []string{"argocd", "pre-argocd"}})
}
