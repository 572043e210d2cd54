// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// TestNetworkPolicyAdmitsWhoReadsArtifactsAndMetrics: the port of metrics also serves Go's profiles, which hold what is
// in the memory of the controller, so only namespaces with the label may read it.
func TestNetworkPolicyAdmitsWhoReadsArtifactsAndMetrics(t *testing.T) {
	type client struct{ namespace, app, port string }
	for dir, namespace := range installations {
		policy := one[networkingv1.NetworkPolicy](t, build(t, dir), "NetworkPolicy", controller)
		for from, want := range map[client]bool{
			{"flux-system", "kustomize-controller", "http"}:         true,
			{"flux-system", "helm-controller", "http"}:              true,
			{namespace, controller, "http"}:                         true,
			{"monitoring", "prometheus", "http-prom"}:               true,
			{"monitoring", "prometheus", "http"}:                    false,
			{"tenant-a", "kustomize-controller", "http"}:            false,
			{"tenant-a", "prometheus", "http-prom"}:                 false,
			{"flux-system", "notification-controller", "http-prom"}: false,
		} {
			scope := labels.Set{"kubernetes.io/metadata.name": from.namespace}
			if from.namespace == "monitoring" {
				scope["metrics"] = "enabled"
			}
			got := false
			for _, rule := range policy.Spec.Ingress {
				for _, peer := range rule.From {
					inNamespace := from.namespace == namespace
					if peer.NamespaceSelector != nil {
						inNamespace = matches(t, peer.NamespaceSelector, scope)
					}
					pod := peer.PodSelector == nil || matches(t, peer.PodSelector, labels.Set{"app": from.app})
					got = got || inNamespace && pod && rule.Ports[0].Port.StrVal == from.port
				}
			}
			if got != want {
				t.Errorf("%s: %+v: admitted is %t, want %t", dir, from, got, want)
			}
		}
	}
}

func matches(t *testing.T, selector *metav1.LabelSelector, set labels.Set) bool {
	t.Helper()
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Matches(set)
}
