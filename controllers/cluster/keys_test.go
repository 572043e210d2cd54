package cluster

import (
	"testing"

	"github.com/winnow-dev/winnow/render/safeguard"
)

// OLM v0 installs a package once in a namespace, which is the one that the Kustomization applies the Subscription to.
func TestAPackageIsClaimedInTheLiveNamespace(t *testing.T) {
	subscription := func(namespace string) safeguard.Definition {
		return safeguard.Definition{
			APIVersion: "operators.coreos.com/v1alpha1", Kind: "Subscription", Namespace: namespace, Name: "web", Instance: "web",
			Identity: map[string]string{safeguard.PackageField: "web"},
		}
	}
	claimed := func(namespace, target string) safeguard.Key {
		kustomizations := Consumers{items: []consumer{{namespace: target}}}
		for key := range kustomizations.liveKeys([]safeguard.Definition{subscription(namespace)}) {
			if key.Kind == "Package" {
				return key
			}
		}
		t.Fatal("no package is claimed")
		return safeguard.Key{}
	}
	if a, b := claimed("a", "live"), claimed("b", "live"); a != b {
		t.Errorf("in one live namespace, %s and %s are claimed", a, b)
	}
	if a, b := claimed("a", "live"), claimed("a", "other"); a == b {
		t.Errorf("in two live namespaces, both claim %s", a)
	}
}

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
	release := safeguard.Key{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "apps", Name: "x-argocd"}
	if got := (consumer{prefix: "x-"}).rendered(release); got.Name != "argocd" || got.Namespace != "apps" {
		t.Errorf("rendered() = %s", got)
	}
}
