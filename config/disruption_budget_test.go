// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// TestDisruptionBudgetsLetNodesDrain: a budget that keeps one available would hold the only pod of a controller on its
// node.
func TestDisruptionBudgetsLetNodesDrain(t *testing.T) {
	cases := map[string][]string{"../examples/fleet/shards": {controller, controller + "-shard1"}, "overlays/ha": {controller}}
	for dir := range installations {
		cases[dir] = []string{controller}
	}
	for dir, names := range cases {
		resources := build(t, dir)
		for _, name := range names {
			workload := one[appsv1.Deployment](t, resources, "Deployment", name)
			budget := one[policyv1.PodDisruptionBudget](t, resources, "PodDisruptionBudget", name)
			if budget.Namespace != workload.Namespace || !matches(t, budget.Spec.Selector, labels.Set(workload.Spec.Template.Labels)) {
				t.Errorf("%s: the budget of %s selects %s/%v", dir, name, budget.Namespace, budget.Spec.Selector)
			}
			unavailable, always := budget.Spec.MaxUnavailable, budget.Spec.UnhealthyPodEvictionPolicy
			if unavailable == nil || unavailable.IntVal != 1 || always == nil || *always != policyv1.AlwaysAllow {
				t.Errorf("%s: the budget of %s is %+v for %d pods", dir, name, budget.Spec, *workload.Spec.Replicas)
			}
		}
	}
}
