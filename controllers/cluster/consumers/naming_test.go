// SPDX-License-Identifier: Apache-2.0

package consumers

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
		kustomizations := Consumers{Items: []Consumer{{namespace: target}}}
		for key := range kustomizations.LiveKeys([]safeguard.Definition{subscription(namespace)}) {
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

func TestTheNameOfALiveObjectInTheArtifact(t *testing.T) {
	release := safeguard.Key{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "apps", Name: "x-argocd"}
	if got := (Consumer{prefix: "x-"}).Rendered(release); got.Name != "argocd" || got.Namespace != "apps" {
		t.Errorf("rendered() = %s", got)
	}
}
