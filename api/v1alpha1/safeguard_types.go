// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Safeguards define which changes are held instead of published, whatever causes them: a catalog, an edit of this spec or a
// patch. A publication loses nothing that is not named by spec.exclude, by a version in spec.instances or in approve.
type Safeguards struct {
	// OnRemoval: an application, or an instance, is removed. Publish does not let everything go at once, nor an instance
	// because one that it depends on goes. By default Hold.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Hold
	// +optional
	OnRemoval string `json:"onRemoval,omitempty"`

	// OnVersionRemoval: a version of an application is removed, or a definition that lives in the cluster
	// has versions that the application lacks; or the version of an instance is gone, or resolves lower. By default Hold.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Hold
	// +optional
	OnVersionRemoval string `json:"onVersionRemoval,omitempty"`

	// OnIdentityChange: the backend, the prefix of its releases (spec.release.prefix), spec.application.kind or
	// spec.application.plural of one of Cozystack's applications changes. These decide which HelmReleases it means: the
	// live ones would be orphaned, and installed again. Or the object or the release of an instance becomes another
	// one: what runs would be uninstalled, and installed again. By default Hold.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Hold
	// +optional
	OnIdentityChange string `json:"onIdentityChange,omitempty"`

	// OnSourceChange: a version of an application, or a whole application of Cozystack, stays and comes
	// from another chart, module, repository, commit, image or program, so that its releases are upgraded in place.
	// summary.sourceChanges counts the published ones. By default Publish.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Publish
	// +optional
	OnSourceChange string `json:"onSourceChange,omitempty"`

	// OnInstanceUpgrade: an instance rises to another version that its range, or the default version of its
	// definition, resolves to, or to another channel. HoldMajor holds another major version, versions that are
	// not semantic, and another channel. A version that spec.instances names exactly is not held. By default HoldMajor.
	// +kubebuilder:validation:Enum=HoldMajor;Hold;Publish
	// +kubebuilder:default=HoldMajor
	// +optional
	OnInstanceUpgrade string `json:"onInstanceUpgrade,omitempty"`

	// OnMajorUpgrade: the highest version of an application rises to another major. By default Publish.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Publish
	// +optional
	OnMajorUpgrade string `json:"onMajorUpgrade,omitempty"`

	// Approve names what may leave, a line each, as status.held and winnow diff print it: argocd (the application),
	// argocd/2.13.0 (a version of it, argocd/* any), Instance/monitoring, or Kind.group/namespace/name; behind a colon
	// what else may happen to it: live, identity, source, major/N, upgrade/V, channel/C or locked/path. A line counts once, for 24
	// hours after the controller saw it first, and longer while it names something that is held; argocd#2 is a new one.
	// sha256:<checksum of the render> releases only what has no name: a baseline that is lost.
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:Pattern="^[A-Za-z0-9][^\\n]*$"
	// +kubebuilder:validation:items:MaxLength=1024
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
	// apps.k8c.io/application-bypass. Ignore ignores the label. By default Honor.
	// +kubebuilder:validation:Enum=Honor;Ignore
	// +kubebuilder:default=Honor
	// +optional
	Bypass string `json:"bypass,omitempty"`

	// Unmanaged: Label marks definitions of the same kinds that no selection holds with the label
	// catalog.winnow.dev/unmanaged, and removes the labels of their former selections. By default Ignore.
	// +kubebuilder:validation:Enum=Ignore;Label
	// +kubebuilder:default=Ignore
	// +optional
	Unmanaged string `json:"unmanaged,omitempty"`

	// Serve: Compared names no artifact in the ExternalArtifact until a Kustomization uses it and its
	// inventory was compared with the render: a Kustomization that used another source before deletes the
	// objects of its inventory that the artifact lacks. Always serves from the first publication on, for
	// consumers that are no Kustomizations. By default Compared.
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
