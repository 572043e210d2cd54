// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Limit narrows a selection, or a source of it. All members that are set must hold.
type Limit struct {
	// MetadataSelector selects by the metadata.yaml beside an application.
	// +optional
	MetadataSelector *MetadataSelector `json:"metadataSelector,omitempty"`

	// NameSelector lists names of applications (metadata.name). One of them must match.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	NameSelector []string `json:"nameSelector,omitempty"`

	// CatalogRefs lists names of catalogs/<name> in the sources. One of them must list the
	// application.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	CatalogRefs []string `json:"catalogRefs,omitempty"`

	// Expression in the Common Expression Language over the variable app, which must be true: app.name, app.kind,
	// app.group, app.source, app.tier, app.deprecated, app.latestVersion, app.publisher, app.versions, app.channels,
	// app.runtime, app.labels, app.annotations, app.metadata, app.objectLabels, app.objectAnnotations, app.spec, app.gvks
	// and app.requires. semver("1.2.3") makes versions comparable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Expression string `json:"expression,omitempty"`
}

// MetadataSelector selects by the metadata.yaml beside an application.
type MetadataSelector struct {
	// TierRefs lists tiers. The application must have one of them. Case matters.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	// +optional
	TierRefs []string `json:"tierRefs,omitempty"`

	// MatchLabels must all be labels of the metadata.yaml.
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	MatchLabels map[string]string `json:"matchLabels,omitempty"`

	// MatchExpressions must all hold for the labels of the metadata.yaml, with the meaning of
	// Kubernetes' label selectors.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	MatchExpressions []metav1.LabelSelectorRequirement `json:"matchExpressions,omitempty"`
}
