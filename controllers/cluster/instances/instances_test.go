// SPDX-License-Identifier: Apache-2.0

package instances

import (
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
)

// The Kustomization of a tenant comes first by its name, and has no kubeConfig.
func TestTheKustomizationWithTheKubeConfigIsNamed(t *testing.T) {
	of := func(namespace string, remote bool) consumers.Consumer {
		return consumers.Consumer{ConsumerStatus: v1alpha1.ConsumerStatus{Namespace: namespace, Name: "apps", Remote: remote}}
	}
	reason := unreachable(consumers.Consumers{Known: true, Namespace: "hub", Items: []consumers.Consumer{of("a-tenant", false), of("hub", true)}})
	if want := "it is applied to another cluster, by the kubeConfig of Kustomization hub/apps"; reason != want {
		t.Errorf("the reason is %q, want %q", reason, want)
	}
}
