// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// While no controller runs, no receiver can claim an object: a new process gives it its time.
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
	c.pass(11 * time.Minute)
	c.restart()
	c.rounds("alpha")
	c.fluxAlpha()
	c.equal("the definition that gamma selects", c.live("argocd") != nil, true)
	c.rounds("gamma", "alpha", "gamma")
	c.ready("alpha", "gamma")
	c.fluxAlpha()
	c.equal("the mark of the definition that moves", c.kept("argocd"), disabled)
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
		c.pass(time.Minute)
	}
	c.equal("the definition that the platform removes", c.kept("argocd"), "gone")
	c.ready("alpha")
}

// Beside a Kustomization in the namespace of the selection, one of another namespace has applied the artifact as well.
func TestAnObjectOfADistantKustomizationIsMarked(t *testing.T) {
	c := moving(t)
	n := c.neighbor()
	n.catalog("argocd", "nginx", "falco")
	n.consumer("distant", "alpha", pruning, func(ks *kustomizev1.Kustomization) {
		ks.Spec.SourceRef.Namespace, ks.Spec.NamePrefix = c.namespace, "pre-"
	})
	c.apply("alpha", "pre-argocd")
	n.own("distant", "pre-argocd")
	n.selection("tenant", compared, without("falco", "nginx"))
	n.consumer("tenant", "tenant", pruning, func(ks *kustomizev1.Kustomization) { ks.Spec.NamePrefix = "pre-" })
	c.change("beta", without("falco"))
	c.change("alpha", without("argocd", "nginx"))
	for range 2 {
		c.rounds("beta")
		c.reconcileBoth(n)
	}
	c.equal("the marks", []string{c.kept("argocd"), c.kept("pre-argocd")}, []string{disabled, disabled})
	c.equal("what alpha publishes", c.publishedByAlpha(), "falco")
}
