// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// releasing adds the instance name of the application web with the release a.
func releasing(name, storage, target string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Instances[name] = v1alpha1.Instance{Application: "web", Version: "1.0.0", ReleaseName: "a", Namespace: target, StorageNamespace: storage}
	}
}

// applyRelease simulates that the Kustomization of a selection has applied HelmReleases, the last of which has the release.
// helm-controller may refuse them.
func (c *liveCluster) applyRelease(selection, storage, target, release string, names ...string) {
	c.Helper()
	var entries []kustomizev1.ResourceRef
	for _, name := range names {
		entries = append(entries, kustomizev1.ResourceRef{ID: c.namespace + "_" + name + "_helm.toolkit.fluxcd.io_HelmRelease", Version: "v2"})
	}
	object := liveRelease(c.namespace, names[len(names)-1], map[string]any{"releaseName": release, "targetNamespace": target, "storageNamespace": storage})
	object.SetLabels(map[string]string{"kustomize.toolkit.fluxcd.io/name": selection, "kustomize.toolkit.fluxcd.io/namespace": c.namespace})
	c.environment.create(object)
	c.reports(selection, c.get(selection).Status.Artifact.Revision)
	c.report(selection, func(ks *kustomizev1.Kustomization) {
		ks.Status.Inventory = &kustomizev1.ResourceInventory{Entries: entries}
	})
	c.settle(selection)
}

// tenants returns the namespace of a tenant beside a platform, with a selection each, and no instances yet.
func (c *liveCluster) tenants() *liveCluster {
	c.Helper()
	c.serve(helmReleases())
	n := c.neighbor()
	for _, e := range []*liveCluster{c, n} {
		e.source(installable(c.T, "web:1.0.0@web"))
	}
	return n
}

// A HelmRelease in the namespace of a tenant names a release of the platform. It keeps that from nobody who stores the
// release in its own namespace, or installs it there.
func TestATenantHoldsNoReleaseOfThePlatform(t *testing.T) {
	for _, test := range []struct {
		name string
		// The namespaces of the platform's release, and of the tenant's with the same name; P and T are their own ones.
		platform, tenant [2]string
	}{
		{"by the storage", [2]string{"P", "web"}, [2]string{"P", "web"}},
		{"by the namespace that it installs to", [2]string{"P", "P"}, [2]string{"T", "P"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			n := c.tenants()
			named := map[string]string{"P": c.namespace, "T": n.namespace, "web": "web"}
			storage, target := named[test.tenant[0]], named[test.tenant[1]]
			n.selection("tenant", installing(""), releasing("x", storage, target))
			n.consumer("tenant", "tenant", pruning)
			n.settle("tenant")
			n.ready("tenant")
			n.applyRelease("tenant", storage, target, "a", "x")
			c.selection("platform", installing(""), releasing("a", named[test.platform[0]], named[test.platform[1]]))
			c.consumer("platform", "platform", pruning)
			c.settle("platform")
			c.equal("the platform within the time", conditionsOf(c.get("platform")), stalled("Conflict"))
			c.pass(11 * time.Minute)
			n.settle("tenant")
			c.settle("platform")
			c.ready("platform")
			c.pass(11 * time.Minute)
			n.settle("tenant")
			c.settle("platform")
			c.ready("platform")
		})
	}
}

// Another release that a HelmRelease of the tenant stores in the platform's namespace does not show that its Kustomization
// may write anything there.
func TestATenantTakesNoReservationOfARelease(t *testing.T) {
	c := newCluster(t)
	n := c.tenants()
	c.selection("platform", installing(""), releasing("a", c.namespace, "web"))
	c.consumer("platform", "platform", pruning)
	c.settle("platform")
	c.ready("platform")
	n.selection("tenant", installing("x=1.0.0"), func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Instances["x"] = v1alpha1.Instance{Application: "web", Version: "1.0.0", ReleaseName: "harmless", Namespace: "web", StorageNamespace: c.namespace}
	})
	n.consumer("tenant", "tenant", pruning)
	n.settle("tenant")
	n.applyRelease("tenant", c.namespace, "web", "harmless", "x")
	n.change("tenant", releasing("y", c.namespace, "web"))
	n.settle("tenant")
	n.equal("the tenant", conditionsOf(n.get("tenant")), stalled("Conflict"))
	c.applyRelease("platform", c.namespace, "web", "a", "a")
	for range 3 {
		c.pass(11 * time.Minute)
		n.settle("tenant")
		n.equal("the tenant of a release that runs", conditionsOf(n.get("tenant")), stalled("Conflict"))
	}
	c.change("platform", func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Instances["b"] = v1alpha1.Instance{Application: "web", Version: "1.0.0"}
	})
	c.settle("platform")
	c.ready("platform")
}

// One commit moves a release to a HelmRelease of another selection and namespace. With the former HelmRelease, helm-controller
// would uninstall what the new one has.
func TestAReleaseThatMovesIsNotUninstalled(t *testing.T) {
	c := newCluster(t)
	n := c.tenants()
	deleting := func(cs *v1alpha1.CatalogSelection) { cs.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete }
	c.selection("alpha", compared, deleting, installing("b=1.0.0"), releasing("a", c.namespace, "web"))
	c.consumer("alpha", "alpha", pruning)
	n.selection("tenant", compared, deleting, installing("z=1.0.0"))
	n.consumer("tenant", "tenant", pruning)
	c.settle("alpha")
	n.settle("tenant")
	c.applyRelease("alpha", c.namespace, "web", "b", "b")
	c.applyRelease("alpha", c.namespace, "web", "a", "b", "a")
	n.applyRelease("tenant", n.namespace, "web", "z", "z")
	c.ready("alpha")
	n.ready("tenant")

	c.change("alpha", func(cs *v1alpha1.CatalogSelection) { delete(cs.Spec.Instances, "a") })
	n.change("tenant", releasing("x", c.namespace, "web"))
	for minute := range 14 {
		for range 2 {
			n.settle("tenant")
			c.settle("alpha")
		}
		if kept := c.contents("alpha"); !slices.Contains(kept, "a") {
			t.Fatalf("minute %d: the artifact has %v: Flux deletes the HelmRelease of the release that moved", minute, kept)
		}
		c.pass(time.Minute)
	}
	n.change("tenant", func(cs *v1alpha1.CatalogSelection) { delete(cs.Spec.Instances, "x") })
	n.settle("tenant")
	c.settle("alpha")
	c.equal("the artifact once nobody else has the release", slices.Contains(c.contents("alpha"), "a"), false)
}
