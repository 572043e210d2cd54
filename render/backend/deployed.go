// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"cmp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/render/backend/kinds"
)

// Deployed is how an instance is installed and upgraded, as its main object states it.
type Deployed struct {
	// Wait and Atomic are nil for a backend that has neither, and Timeout is empty for the default of its controller.
	Wait    *bool  `json:"wait,omitempty"`
	Atomic  *bool  `json:"atomic,omitempty"`
	Timeout string `json:"timeout,omitempty"`
	// Retries are nil where they have no end, or where the controller decides.
	Retries *int64 `json:"retries,omitempty"`
}

// DeployedOf returns how the instance with a main object is installed and upgraded; nil where the object does not state it.
func DeployedOf(main Object) *Deployed {
	at := func(fields ...string) any {
		value, _, _ := unstructured.NestedFieldNoCopy(main.Object, append([]string{"spec"}, fields...)...)
		return value
	}
	text := func(fields ...string) string { value, _ := at(fields...).(string); return value }
	is := func(fields ...string) bool { value, _ := at(fields...).(bool); return value }
	retries := func(fields ...string) *int64 {
		if value, ok := at(fields...).(int64); ok {
			return &value
		}
		return nil
	}
	switch main.GroupVersionKind().GroupKind() {
	case kinds.HelmRelease.GroupKind():
		return &Deployed{
			Wait: new(!is("upgrade", "disableWait")), Atomic: new(at("upgrade", "remediation") != nil),
			Timeout: cmp.Or(text("upgrade", "timeout"), text("timeout")), Retries: retries("upgrade", "remediation", "retries"),
		}
	case kinds.ApplicationInstallation.GroupKind():
		if at("deployOptions", "helm") == nil {
			return nil
		}
		return &Deployed{
			Wait: new(is("deployOptions", "helm", "wait")), Atomic: new(is("deployOptions", "helm", "atomic")), Timeout: text("deployOptions", "helm", "timeout"),
		}
	case kinds.Terraform.GroupKind():
		if count := retries("remediation", "retries"); count != nil {
			return &Deployed{Retries: count}
		}
	}
	return nil
}
