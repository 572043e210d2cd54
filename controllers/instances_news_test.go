// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// What was ready before a publication proves nothing of it, whatever its Kustomization has applied since.
func TestAPublicationEndsWhatWasReady(t *testing.T) {
	c := withInstances(t, "a")
	c.release("a", "True", "installed")
	c.equal("before", c.states()[0], "True Succeeded: 1 of 1 ready")
	c.edit(installing("a=^1"))
	c.source(installable(t, "web:1.0.0@web,1.1.0@web"))
	ready := func() string {
		return string(conditions.Get(c.look(), v1alpha1.InstancesReadyCondition).Status)
	}
	c.equal("after the publication", ready(), "Unknown")
	c.applies("kkp")
	c.equal("before the object was read again", ready(), "Unknown")
	c.equal("after that", c.states()[0], "True Succeeded: 1 of 1 ready")
}

// tofu-controller sets Ready to Unknown in each reconciliation, which happens at each interval.
func TestAnIntervalOfAnInstanceIsNoNews(t *testing.T) {
	c := withInstances(t, "a")
	report := func(status string) []string {
		c.release("a", status, "x")
		c.states()
		return c.events.take()
	}
	ready := []string{"Normal Succeeded CatalogSelection", "Normal Succeeded ExternalArtifact"}
	failed := []string{"Warning InstanceNotReady CatalogSelection", "Warning InstanceNotReady ExternalArtifact"}
	report("Unknown")
	for _, step := range []struct {
		status string
		want   []string
	}{
		{"True", ready}, {"Unknown", nil}, {"True", nil}, {"Unknown", nil}, {"False", failed}, {"Unknown", nil}, {"False", nil},
		{"Unknown", nil}, {"True", ready},
	} {
		c.equal("events of "+step.status, report(step.status), step.want)
	}
}

// The loop is one for all selections, and does not run in a reconciliation.
func TestAPanicDoesNotEndTheReports(t *testing.T) {
	c := withInstances(t, "a")
	c.reconciler.instances.delay = 0
	c.release("a", "True", "installed")
	c.awaitCaches()
	panicked := make(chan bool, 1)
	c.traffic.before = func(string, client.Object) error {
		select {
		case panicked <- true:
			panic("unexpected")
		default:
			return nil
		}
	}
	ctx, cancel := context.WithCancel(c.context())
	defer cancel()
	go func() { _ = c.reconciler.reportInstances(ctx) }()
	c.reconciler.instances.enqueue(c.key("kkp"))
	c.await("the panic", func() bool { return len(panicked) == 1 })
	c.reconciler.instances.enqueue(c.key("kkp"))
	c.await("the state", func() bool {
		in := c.get("kkp").Status.Instances
		return len(in) == 1 && in[0].Ready == metav1.ConditionTrue
	})
}
