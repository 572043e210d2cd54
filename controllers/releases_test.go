// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

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

// Flux deletes what leaves the giver while it applies what enters the receiver. A source that is deleted between the two would be missing
// until the receiver is applied once more.
func TestTheSourceOfAReleaseThatMovesStays(t *testing.T) {
	c := newCluster(t)
	c.serve(helmReleases())
	c.source(installable(t, "web:1.0.0@web"))
	for name, instances := range map[string]specEdit{"alpha": installing("a=1.0.0"), "beta": installing("c=1.0.0")} {
		c.selection(name, compared, instances, func(cs *v1alpha1.CatalogSelection) { cs.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete })
		c.consumer(name, name, pruning)
		c.settle(name)
	}
	c.applyRelease("alpha", c.namespace, "web", "a", "a")
	moved := c.get("alpha").Spec.Instances["a"]
	c.change("beta", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Instances["a"] = moved })
	c.change("alpha", func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Instances, cs.Spec.Safeguards.Approve = nil, []string{"Instance/a"}
	})
	c.rounds("beta", "alpha")
	var kept []string
	for _, object := range c.objects("alpha") {
		if object.GetAnnotations()[pruneAnnotation] == disabled {
			kept = append(kept, object.GetKind())
		}
	}
	slices.Sort(kept)
	c.equal("what Flux keeps", kept, []string{"HelmRelease", "HelmRepository", "Namespace"})
}

// A HelmRelease that no selection publishes has the release that enters: helm-controller would upgrade it for both in turns.
func TestAReleaseOfAStrangerIsNotPublished(t *testing.T) {
	inWeb := map[string]any{"releaseName": "a", "targetNamespace": "web"}
	with := func(field string, value any) map[string]any {
		spec := maps.Clone(inWeb)
		spec[field] = value
		return spec
	}
	for _, test := range []struct {
		name, release string
		spec          map[string]any
		applied       bool // by a Kustomization of another source
		want          string
	}{
		{"by hand", "mine", inWeb, false, "the HelmRelease NAMESPACE/mine, which no Kustomization has applied, holds Release NAMESPACE/a, Release web/a as well"},
		{"of another source", "mine", inWeb, true, "the HelmRelease NAMESPACE/mine of the Kustomization NAMESPACE/infra holds Release NAMESPACE/a, Release web/a as well"},
		{"stored elsewhere", "mine", with("storageNamespace", "web"), false, "the HelmRelease NAMESPACE/mine, which no Kustomization has applied, holds Release web/a as well"},
		{"installed elsewhere", "mine", map[string]any{"releaseName": "a"}, false, "the HelmRelease NAMESPACE/mine, which no Kustomization has applied, holds Release NAMESPACE/a as well"},
		{"with the name that helm-controller makes", "a", map[string]any{"storageNamespace": "web"}, false, ""},
		{"another release", "mine", with("releaseName", "b"), false, ""},
		{"in another cluster", "mine", with("kubeConfig", map[string]any{"secretRef": map[string]any{"name": "edge"}}), false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			c.serve(helmReleases())
			c.source(installable(t, "web:1.0.0@web"))
			stranger := liveRelease(c.namespace, test.release, test.spec)
			if test.applied {
				stranger.SetLabels(map[string]string{"kustomize.toolkit.fluxcd.io/name": "infra", "kustomize.toolkit.fluxcd.io/namespace": c.namespace})
				c.consumer("infra", "x", func(ks *kustomizev1.Kustomization) { ks.Spec.SourceRef.Kind = "GitRepository" })
				c.report("infra", func(ks *kustomizev1.Kustomization) {
					ks.Status.Inventory = &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{
						{ID: c.namespace + "_mine_helm.toolkit.fluxcd.io_HelmRelease", Version: "v2"},
					}}
				})
			}
			c.environment.create(stranger)
			c.selection("kkp", guarded, installing(""), releasing("ours", "", "web"))
			c.consumer("kkp", "kkp")
			c.settle("kkp")
			if test.want == "" {
				c.ready("kkp")
				return
			}
			c.equal("conditions", conditionsOf(c.get("kkp")), stalled("Conflict"))
			if got := conditions.GetMessage(c.get("kkp"), meta.ReadyCondition); !strings.Contains(strings.ReplaceAll(got, c.namespace, "NAMESPACE"), test.want) {
				t.Errorf("Ready is %q, want %q", got, test.want)
			}
			c.remove(stranger)
			c.settle("kkp")
			c.ready("kkp")
			c.environment.create(liveRelease(c.namespace, "late", test.spec))
			c.settle("kkp")
			c.ready("kkp")
		})
	}
}

// A tenant can name any namespace, but its HelmRelease has no history in one that it may not write to. It keeps the history of an
// earlier release while it is suspended.
func TestAStrangerInAnotherNamespaceHoldsWhatItHasStored(t *testing.T) {
	for _, test := range []struct {
		name, stored string // NAMESPACE is the platform's
		owner, holds bool
	}{
		{"nothing", "", false, false},
		{"nothing, and the platform owns another release there", "", true, false},
		{"another release", "elsewhere", false, false},
		{"another release, and the platform owns one there", "elsewhere", true, false},
		{"this release", "NAMESPACE", false, true},
		{"this release, and the platform owns another one there", "NAMESPACE", true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			n := c.tenants()
			c.selection("platform", installing("b=1.0.0"))
			c.consumer("platform", "platform", pruning)
			c.settle("platform")
			c.ready("platform")
			if test.owner {
				c.applyRelease("platform", c.namespace, "web", "b", "b")
			}
			stranger := liveRelease(n.namespace, "x", map[string]any{"releaseName": "a", "storageNamespace": c.namespace, "targetNamespace": "elsewhere"})
			n.environment.create(stranger)
			if test.stored != "" {
				stranger.Object["status"] = map[string]any{
					"storageNamespace": strings.ReplaceAll(test.stored, "NAMESPACE", c.namespace), "history": []any{map[string]any{"chartName": "web"}},
				}
				if err := apiServer.Status().Update(t.Context(), stranger); err != nil {
					t.Fatal(err)
				}
			}
			c.change("platform", releasing("a", c.namespace, c.namespace))
			c.settle("platform")
			if test.holds {
				c.equal("conditions", conditionsOf(c.get("platform"))[:1], stalled("Conflict")[:1])
				return
			}
			c.ready("platform")
		})
	}
}
