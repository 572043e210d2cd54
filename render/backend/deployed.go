// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"cmp"

	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/value"
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
	retries := func(of value.Value) *int64 {
		if retries, ok := of.Get("remediation", "retries").Content.(int64); ok {
			return &retries
		}
		return nil
	}
	switch main.GroupVersionKind().GroupKind() {
	case kinds.HelmRelease.GroupKind():
		upgrade := main.Spec("upgrade")
		return &Deployed{
			Wait: new(!upgrade.Get("disableWait").IsTrue()), Atomic: new(upgrade.Get("remediation").IsSet()),
			Timeout: cmp.Or(upgrade.Get("timeout").Text(), main.Spec("timeout").Text()), Retries: retries(upgrade),
		}
	case kinds.ApplicationInstallation.GroupKind():
		helm := main.Spec("deployOptions", "helm")
		if !helm.IsSet() {
			return nil
		}
		return &Deployed{Wait: new(helm.Get("wait").IsTrue()), Atomic: new(helm.Get("atomic").IsTrue()), Timeout: helm.Get("timeout").Text()}
	case kinds.Terraform.GroupKind():
		if count := retries(main.Spec()); count != nil {
			return &Deployed{Retries: count}
		}
	}
	return nil
}
