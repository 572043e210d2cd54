package controllers

import (
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"

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
