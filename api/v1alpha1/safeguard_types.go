// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Safeguards define which changes that a new revision of a catalog causes are held instead of
// published. A change that an edit of this spec causes was reviewed, and is published; except an empty
// result.
type Safeguards struct {
	// OnEmpty: the selection is empty, whatever the cause. Hold keeps the last artifact. Publish
	// publishes an artifact without objects, but onRemoval still holds applications that the catalog
	// removed.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Hold
	// +optional
	OnEmpty string `json:"onEmpty,omitempty"`

	// OnRemoval: an application is removed.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Hold
	// +optional
	OnRemoval string `json:"onRemoval,omitempty"`

	// OnVersionRemoval: a version of an application is removed, or a definition that lives in the cluster
	// has versions that the application lacks; or the version of an instance is gone, or resolves lower.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Hold
	// +optional
	OnVersionRemoval string `json:"onVersionRemoval,omitempty"`

	// OnIdentityChange: the backend, the prefix of its releases (spec.release.prefix), spec.application.kind or
	// spec.application.plural of one of Cozystack's applications changes. These decide which HelmReleases it means: the
	// live ones would be orphaned, and installed again. Or the object or the release of an instance becomes another
	// one, even by an edit of this spec: what runs would be uninstalled, and installed again.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Hold
	// +optional
	OnIdentityChange string `json:"onIdentityChange,omitempty"`

	// OnSourceChange: a version of an application, or a whole application of Cozystack, stays and comes
	// from another chart, module, repository, commit, image or program, so that its releases are upgraded in place.
	// summary.sourceChanges counts the published ones.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Publish
	// +optional
	OnSourceChange string `json:"onSourceChange,omitempty"`

	// OnInstanceUpgrade: an instance rises to another version that its range, or the default version of its
	// definition, resolves to, or to another channel. HoldMajor holds another major version, versions that are
	// not semantic, and another channel. A version that spec.instances names exactly is not held.
	// +kubebuilder:validation:Enum=HoldMajor;Hold;Publish
	// +kubebuilder:default=HoldMajor
	// +optional
	OnInstanceUpgrade string `json:"onInstanceUpgrade,omitempty"`

	// OnMajorUpgrade: the highest version of an application rises to another major.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Publish
	// +optional
	OnMajorUpgrade string `json:"onMajorUpgrade,omitempty"`

	// Approve lists the revisions whose held changes are accepted: <algorithm>:<hex>, or
	// <algorithm>:<hex>#<note>. The checksum is that of a source's revision; for an OCIRepository it is the
	// digest of the manifest. If none or several sources changed, for a GitRepository or a Bucket, and
	// before the first publication, it is the checksum of the render, as in status.held. An entry is used up after its revision was published, was held while another one
	// was published, or came only after another one was published; with another note it is a new entry. An empty result cannot be approved.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:Pattern="^[a-z0-9]+:[a-f0-9]{32,128}(#[A-Za-z0-9][A-Za-z0-9._-]{0,62})?$"
	// +kubebuilder:validation:items:MaxLength=255
	// +listType=set
	// +optional
	Approve []string `json:"approve,omitempty"`
}

// Values of a safeguard.
const (
	// SafeguardHold keeps the last good artifact.
	SafeguardHold = "Hold"
	// SafeguardPublish publishes the change.
	SafeguardPublish = "Publish"
	// SafeguardHoldMajor keeps the last good artifact if the major version rises.
	SafeguardHoldMajor = "HoldMajor"
)

// Cluster configures how live definitions of this cluster are treated.
type Cluster struct {
	// Bypass: Honor keeps Flux from updating and deleting definitions with the label
	// apps.k8c.io/application-bypass. Ignore ignores the label.
	// +kubebuilder:validation:Enum=Honor;Ignore
	// +kubebuilder:default=Honor
	// +optional
	Bypass string `json:"bypass,omitempty"`

	// Unmanaged: Label marks definitions of the same kinds that no selection holds with the label
	// catalog.winnow.dev/unmanaged, and removes the labels of their former selections.
	// +kubebuilder:validation:Enum=Ignore;Label
	// +kubebuilder:default=Ignore
	// +optional
	Unmanaged string `json:"unmanaged,omitempty"`

	// Serve: Compared names no artifact in the ExternalArtifact until a Kustomization uses it and its
	// inventory was compared with the render: a Kustomization that used another source before deletes the
	// objects of its inventory that the artifact lacks. Always serves from the first publication on, for
	// consumers that are no Kustomizations.
	// +kubebuilder:validation:Enum=Compared;Always
	// +kubebuilder:default=Compared
	// +optional
	Serve string `json:"serve,omitempty"`
}

// Values of DeletionPolicy.
const (
	// DeletionPolicyOrphan keeps the objects that leave the artifact.
	DeletionPolicyOrphan = "Orphan"
	// DeletionPolicyDelete lets Flux delete them.
	DeletionPolicyDelete = "Delete"
)

// Values of the members of Cluster.
const (
	// BypassHonor keeps Flux from updating and deleting bypassed definitions.
	BypassHonor = "Honor"
	// BypassIgnore ignores the label.
	BypassIgnore = "Ignore"
	// UnmanagedIgnore leaves definitions that no selection holds alone.
	UnmanagedIgnore = "Ignore"
	// UnmanagedLabelled labels them.
	UnmanagedLabelled = "Label"
	// ServeCompared serves an artifact after it was compared with the inventory of a consumer.
	ServeCompared = "Compared"
	// ServeAlways serves from the first publication on.
	ServeAlways = "Always"
)
