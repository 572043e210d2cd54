package controllers

import (
	"testing"
	"time"

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
	serveHelmReleases(c)
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
