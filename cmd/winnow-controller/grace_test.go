// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

// The kubelet kills what runs longer: a lease that is not released keeps the next leader waiting for its end.
func TestTheGraceOfThePodIsLongerThanTheShutdown(t *testing.T) {
	content, err := os.ReadFile("../../config/manager/deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var deployment appsv1.Deployment
	if err := yaml.UnmarshalStrict(content, &deployment); err != nil {
		t.Fatal(err)
	}
	pod := deployment.Spec.Template.Spec
	o, err := parse(pod.Containers[0].Args)
	if err != nil {
		t.Fatal(err)
	}
	grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second
	if longest := shutdownGrace + o.leaderElection.RenewDeadline/2; grace <= longest || downloadGrace >= shutdownGrace {
		t.Errorf("the grace of the pod is %s, the controller takes up to %s", grace, longest)
	}
	probe := pod.Containers[0].ReadinessProbe.HTTPGet
	if probe.Path != "/" || probe.Port.StrVal != "http" {
		t.Errorf("readiness is probed by %+v", probe)
	}
}
