// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

func helmReleases() *apiextensionsv1.CustomResourceDefinition {
	crd := definitionsOfGroup("helm.toolkit.fluxcd.io")
	crd.Name, crd.Spec.Scope = "helmreleases.helm.toolkit.fluxcd.io", apiextensionsv1.NamespaceScoped
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Kind: "HelmRelease", ListKind: "HelmReleaseList", Plural: "helmreleases", Singular: "helmrelease",
	}
	crd.Spec.Versions[0].Name = "v2"
	return crd
}

func ofChart(name string) map[string]any {
	return map[string]any{"spec": map[string]any{"chart": name, "sourceRef": map[string]any{"kind": "HelmRepository", "name": "charts"}}}
}

func liveRelease(namespace, name string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetAPIVersion("helm.toolkit.fluxcd.io/v2")
	u.SetKind("HelmRelease")
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// A HelmRelease that lives in the cluster is taken over only as the same release.
func TestLiveReleasesAreTakenOver(t *testing.T) {
	for _, test := range []struct {
		name string
		spec map[string]any
		held []string
	}{
		{"the same release", map[string]any{"releaseName": "a", "targetNamespace": "web"}, nil},
		{"helm-controller's name of it", map[string]any{"targetNamespace": "web"}, []string{
			`IdentityChange web a: instance a: releaseName would change from "web-a" to "a": what runs would be uninstalled, and installed anew`,
		}},
		{"the same chart", map[string]any{"releaseName": "a", "targetNamespace": "web", "chart": ofChart("web")}, nil},
		{"another chart", map[string]any{"releaseName": "a", "targetNamespace": "web", "chart": ofChart("database")}, []string{
			`IdentityChange web a: instance a: chart would change from "database" to "web": what runs would be upgraded in place, and Helm would delete the objects that the other chart lacks`,
		}},
		{"another namespace", map[string]any{}, []string{
			`IdentityChange web a: instance a: targetNamespace would change from "NAMESPACE" to "web": what runs would be uninstalled, and installed anew`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			c.serve(helmReleases())
			c.environment.create(liveRelease(c.namespace, "a", test.spec))
			c.source(installable(t, "web:1.0.0@web"))
			c.selection("kkp", guarded, installing("a=1.0.0"))
			if test.held == nil {
				c.good()
				return
			}
			for i := range test.held {
				test.held[i] = strings.ReplaceAll(test.held[i], "NAMESPACE", c.namespace)
			}
			c.equal("held", reasonsOf(c.reconcile("kkp")), test.held)
		})
	}
}

// What has run last tells the chart of a release whose source does not.
func TestTheLiveChartIsThatOfTheHistory(t *testing.T) {
	c := newCluster(t)
	c.serve(helmReleases())
	release := liveRelease(c.namespace, "a", map[string]any{"releaseName": "a", "targetNamespace": "web", "chartRef": map[string]any{"kind": "OCIRepository", "name": "database"}})
	c.environment.create(release)
	release.Object["status"] = map[string]any{"history": []any{map[string]any{"chartName": "database"}, map[string]any{"chartName": "web"}}}
	if err := apiServer.Status().Update(t.Context(), release); err != nil {
		t.Fatal(err)
	}
	c.source(installable(t, "web:1.0.0@web"))
	c.selection("kkp", guarded, installing("a=1.0.0"))
	c.equal("held", reasonsOf(c.reconcile("kkp")), []string{
		`IdentityChange web a: instance a: chart would change from "database" to "web": what runs would be upgraded in place, and Helm would delete the objects that the other chart lacks`,
	})
}

// The right to patch HelmReleases is one to install anything, so they are not marked.
func TestLiveReleasesAreNotMarked(t *testing.T) {
	c := newCluster(t)
	c.serve(helmReleases())
	release := liveRelease(c.namespace, "a", map[string]any{"releaseName": "a", "targetNamespace": "web"})
	release.SetLabels(map[string]string{v1alpha1.BypassLabel: "true"})
	other := liveRelease(c.namespace, "other", map[string]any{})
	c.environment.create(release)
	c.environment.create(other)
	c.source(installable(t, "web:1.0.0@web"))
	c.selection("kkp", guarded, installing("a=1.0.0"), func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Cluster.Unmanaged = v1alpha1.UnmanagedLabelled
	})
	c.consumer("apps", "kkp")
	c.good()
	c.reconcile("kkp")
	for _, object := range []*unstructured.Unstructured{release, other} {
		if err := apiServer.Get(context.Background(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Fatal(err)
		}
		if len(object.GetAnnotations()) > 0 || object.GetLabels()[v1alpha1.UnmanagedLabel] != "" {
			t.Errorf("%s has the annotations %v and the labels %v", object.GetName(), object.GetAnnotations(), object.GetLabels())
		}
	}
	if cs := c.get("kkp"); len(cs.Status.Bypassed) > 0 {
		t.Errorf("bypassed are %v", cs.Status.Bypassed)
	}
}

// withPublishedInstance returns a cluster in which the selection kkp has published the instance a. The selections kkp and
// other have consumers.
func withPublishedInstance(t *testing.T) *liveCluster {
	t.Helper()
	c := newCluster(t)
	c.serve(helmReleases())
	c.source(installable(t, "web:1.0.0@web"))
	c.selection("kkp", guarded, installing("a=1.0.0"))
	c.consumer("kkp", "kkp")
	c.consumer("other", "other")
	c.good()
	return c
}

// Two selections of one namespace cannot have the same instance.
func TestInstancesAreClaimed(t *testing.T) {
	c := withPublishedInstance(t)
	c.selection("other", guarded, installing("a=1.0.0"))
	cs := c.reconcile("other")
	message := fmt.Sprintf("the CatalogSelection %s/kkp holds HelmRelease %s/a, Release %s/a, Release web/a as well; rename or remove them here, or there",
		c.namespace, c.namespace, c.namespace)
	c.equal("message", conditions.GetMessage(cs, meta.ReadyCondition), message)
	if got := conditionsOf(cs); !slices.Contains(got, "Stalled=True Conflict") {
		t.Errorf("the conditions are %v", got)
	}
}

// Two owners of a release would upgrade it in turns, even if their objects differ. Helm takes what is in a namespace for
// the objects of a release by the name of the release, wherever that is stored.
func TestReleasesAreClaimed(t *testing.T) {
	for _, test := range []struct {
		name     string
		instance v1alpha1.Instance
		held     string // empty if there is no conflict
	}{
		{"the same release", v1alpha1.Instance{Application: "web", ReleaseName: "a"}, "%[1]s/a, Release web/a"},
		{"the same storage", v1alpha1.Instance{Application: "web", ReleaseName: "a", Namespace: "other"}, "%[1]s/a"},
		{"the same name in the namespace", v1alpha1.Instance{Application: "web", ReleaseName: "a", StorageNamespace: "other"}, "web/a"},
		{"another namespace and storage", v1alpha1.Instance{Application: "web", ReleaseName: "a", Namespace: "other", StorageNamespace: "other"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := withPublishedInstance(t)
			c.selection("other", guarded, installing("b=1.0.0"), func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Instances["b"] = test.instance
			})
			message := conditions.GetMessage(c.reconcile("other"), meta.ReadyCondition)
			if test.held == "" {
				if strings.Contains(message, "holds") {
					t.Error(message)
				}
				return
			}
			held := test.held
			if strings.Contains(held, "%") {
				held = fmt.Sprintf(held, c.namespace)
			}
			c.equal("message", message, fmt.Sprintf("the CatalogSelection %s/kkp holds Release %s as well; rename or remove them here, or there", c.namespace, held))
		})
	}
}

// Flux applies nothing at all while the cluster does not serve one of the kinds.
func TestAMissingBackendIsHeld(t *testing.T) {
	c := newCluster(t)
	c.source(catalogArchive(t, "applications/vm/application.yaml", "apiVersion: cozystack.io/v1alpha1\n"+
		"kind: ApplicationDefinition\nmetadata:\n  name: vm\nspec:\n  application: {kind: VM, plural: vms, singular: vm, openAPISchema: '{}'}\n"+
		"  backend: {type: Terraform, terraform: {prefix: vm-, sourceRef: {kind: GitRepository, name: x}}}\n"))
	c.selection("kkp", guarded, func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Definitions = v1alpha1.DefinitionsOmit
		cs.Spec.Instances = map[string]v1alpha1.Instance{"vm": {Backend: "Terraform"}}
	})
	c.good() // no Kustomization applies it here
	c.consumer("apps", "kkp")
	c.edit(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Instances["two"] = v1alpha1.Instance{Application: "vm", Backend: "Terraform"}
	})
	cs := c.reconcile("kkp")
	c.equal("held", reasonsOf(cs), []string{"BackendNotAvailable  : the cluster does not serve infra.contrib.fluxcd.io/v1alpha2, Kind=Terraform, " +
		"which spec.instances or spec.push.catalog needs: install what reads it first; if an instance of this selection does that, move that instance to a selection of its own"})
	if len(cs.Status.Held.Approve) > 0 {
		t.Errorf("it can be approved by %v", cs.Status.Held.Approve)
	}
	c.edit(func(cs *v1alpha1.CatalogSelection) {
		delete(cs.Spec.Instances, "vm")
		cs.Spec.Safeguards.Approve = []string{"Instance/vm"}
	})
	cs = c.reconcile("kkp")
	c.equal("held", reasonsOf(cs)[0][:19], "BackendNotAvailable")
	c.equal("a line for a part of it counts for as long", cs.Status.Held.Named, []string{"Instance/vm"})
}

// The spec says which backends the clusters have, and what is published of another one is held, like any removal.
func TestThePlatformsBackends(t *testing.T) {
	const head = "apiVersion: cozystack.io/v1alpha1\nkind: ApplicationDefinition\nmetadata:\n  name: %[1]s\nspec:\n" +
		"  application: {kind: %[1]s, plural: %[1]ss, singular: %[1]s, openAPISchema: '{}'}\n"
	c := newCluster(t)
	c.serve(helmReleases())
	c.source(catalogArchive(t,
		"applications/vm/application.yaml", fmt.Sprintf(head, "vm")+"  backend: {type: Terraform, terraform: {prefix: vm-, sourceRef: {kind: GitRepository, name: x}}}\n",
		"applications/web/application.yaml", fmt.Sprintf(head, "web")+"  release: {prefix: web-, chartRef: {kind: HelmChart, name: web}}\n"))
	c.selection("kkp", guarded, func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Definitions = v1alpha1.DefinitionsOmit
		cs.Spec.Instances = map[string]v1alpha1.Instance{"vm": {Backend: "Terraform"}, "web": {Backend: "Helm"}}
	})
	first := c.good()
	c.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Platform = &v1alpha1.Platform{Backends: []string{"Helm"}} })
	c.pass(1 << 40)
	cs := c.hold(first, "Removal")
	c.equal("held", reasonsOf(cs), []string{"Removal vm vm: instance vm would be removed, because its backend Terraform is not in spec.platform.backends; " +
		"add it there, or remove the instance from spec.instances"})
	c.approve(cs.Status.Held.Approve...)
	c.equal("what the platform leaves out is unmatched", conditions.IsTrue(c.good().cs, v1alpha1.UnmatchedCondition), false)
	c.consumer("apps", "kkp")
	c.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Platform = nil })
	c.equal("held", reasonsOf(c.reconcile("kkp")), []string{"BackendNotAvailable  : the cluster does not serve infra.contrib.fluxcd.io/v1alpha2, Kind=Terraform, " +
		"which spec.instances or spec.push.catalog needs: install what reads it first; if an instance of this selection does that, move that instance to a selection of its own; " +
		"or leave out the instances of other backends by spec.platform: {backends: [Helm]}"})
}
