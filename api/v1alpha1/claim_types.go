// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Claim has the objects that a selection publishes, is about to publish, or gives up. A selection without a Kustomization in this
// cluster has none.
type Claim struct {
	// Generation of the spec that the claim is for, or 0 if another selection has spoilt the claim.
	// +optional
	Generation int64 `json:"generation,omitempty"`

	// Held is true while a safeguard holds the render: it takes no object from others.
	// +optional
	Held bool `json:"held,omitempty"`

	// Pending is true while a publication is under way: it gives nothing up before it is published, or waits.
	// +optional
	Pending bool `json:"pending,omitempty"`

	// Open is true if the spec names something that matches nothing, or if no Kustomization uses the artifact: it may be about to claim
	// any object.
	// +optional
	Open bool `json:"open,omitempty"`

	// Keys are digests of the objects and releases that will be published, and are not yet.
	// +kubebuilder:validation:MaxLength=262144
	// +optional
	Keys []byte `json:"keys,omitempty"`

	// Published are digests of the objects and releases that are published.
	// +kubebuilder:validation:MaxLength=262144
	// +optional
	Published []byte `json:"published,omitempty"`

	// Given are digests of the objects and releases that are applied, and that the publication lacks.
	// +kubebuilder:validation:MaxLength=262144
	// +optional
	Given []byte `json:"given,omitempty"`

	// Gives are digests of the objects and releases that are applied, and that the render lacks, which has passed the
	// safeguards.
	// +kubebuilder:validation:MaxLength=262144
	// +optional
	Gives []byte `json:"gives,omitempty"`

	// Waits are the Keys that others have: the selection gives nothing up before it gets them.
	// +kubebuilder:validation:MaxLength=262144
	// +optional
	Waits []byte `json:"waits,omitempty"`
}
