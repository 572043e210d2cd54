// SPDX-License-Identifier: Apache-2.0

package inventory

import "testing"

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
