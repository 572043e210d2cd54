// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"slices"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestEntriesOfInventories(t *testing.T) {
	for id, want := range map[string]string{
		"_argocd_apps.kubermatic.k8c.io_ApplicationDefinition": "ApplicationDefinition.apps.kubermatic.k8c.io argocd",
		"apps_argocd_helm.toolkit.fluxcd.io_HelmRelease":       "HelmRelease.helm.toolkit.fluxcd.io apps/argocd",
		"test_argocd_helm.toolkit.fluxcd.io_HelmRelease":       "HelmRelease.helm.toolkit.fluxcd.io test/argocd",
		"_system__view_rbac.authorization.k8s.io_ClusterRole":  "ClusterRole.rbac.authorization.k8s.io system:view",
		"apps_settings__ConfigMap":                             "ConfigMap. apps/settings",
	} {
		if key, ok := parseEntry(id); !ok || key.String() != want {
			t.Errorf("parseEntry(%s) = %s, %t, want %s", id, key, ok, want)
		}
	}
	for _, id := range []string{"", "a", "a_b", "a_b_c"} {
		if key, ok := parseEntry(id); ok {
			t.Errorf("parseEntry(%s) = %s", id, key)
		}
	}
}

func TestKindsOfInventories(t *testing.T) {
	ks := &kustomizev1.Kustomization{}
	ks.Status.Inventory = &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{
		{ID: "_argocd_apps.kubermatic.k8c.io_ApplicationDefinition", Version: "v1"},
		{ID: "_nginx_apps.kubermatic.k8c.io_ApplicationDefinition", Version: "v1"},
		{ID: "apps_db_apps.cozystack.io_Postgres", Version: "v1alpha1"},
		{ID: "apps_settings__ConfigMap", Version: "v1"},
		{ID: "a_b", Version: "v1"},
	}}
	want := []schema.GroupVersionKind{
		{Group: "apps.kubermatic.k8c.io", Version: "v1", Kind: "ApplicationDefinition"},
		{Group: "apps.cozystack.io", Version: "v1alpha1", Kind: "Postgres"},
	}
	if got := Kinds(ks); !slices.Equal(got, want) || Kinds(nil) != nil {
		t.Errorf("Kinds() = %v, want %v", got, want)
	}
}
