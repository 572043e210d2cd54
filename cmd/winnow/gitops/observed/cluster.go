// SPDX-License-Identifier: Apache-2.0

package observed

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
)

// Cluster is a cluster of a stage.
type Cluster struct {
	Name string `json:"name"`
	// Stage is the argument that names it.
	Stage string `json:"stage"`
	// Wanted is the digest in Git; empty where the stage follows a tag.
	Wanted string `json:"wanted,omitempty"`
	// Version has the versions of the catalogs that Digest was rendered from.
	Version string `json:"version,omitempty"`
	// Digest and Ready of the Kustomizations of the stage.
	Digest string                 `json:"digest,omitempty"`
	Ready  metav1.ConditionStatus `json:"ready,omitempty"`
	// Problems, the worst first.
	Problems []Problem `json:"problems"`
	// Receipt is absent if there is none of this cluster.
	Receipt *receipt.Receipt `json:"receipt,omitempty"`

	// kustomizations of the stage.
	kustomizations []receipt.Kustomization
	// Failure is why the receipt cannot be read.
	Failure error `json:"-"`
}

// Problem is what is wrong with a cluster, or with its receipt.
type Problem struct {
	// Name is one of Names.
	Name    string `json:"name"`
	Message string `json:"message"`
}
