// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// TestASecondPodRunsBesideTheFirstOne: with Recreate, an update would end both at once.
func TestASecondPodRunsBesideTheFirstOne(t *testing.T) {
	workload := deployment(t, build(t, "overlays/ha"))
	update := workload.Spec.Strategy.RollingUpdate
	if *workload.Spec.Replicas != 2 || workload.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType ||
		update.MaxUnavailable.IntVal != 0 || update.MaxSurge.IntVal != 1 {
		t.Errorf("%d replicas, updated by %+v", *workload.Spec.Replicas, workload.Spec.Strategy)
	}
	spread := workload.Spec.Template.Spec.TopologySpreadConstraints
	if len(spread) != 1 || spread[0].TopologyKey != corev1.LabelHostname ||
		!matches(t, spread[0].LabelSelector, labels.Set(workload.Spec.Template.Labels)) {
		t.Errorf("spread by %+v", spread)
	}
}
