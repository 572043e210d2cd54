// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Safeguards define which changes are held instead of published, whatever causes them: a catalog, an edit of this spec or a
// patch. A publication loses nothing that is not named by spec.exclude, by a version in spec.instances or in approve.
type Safeguards struct {
	// OnRemoval decides about the removal of an application or an instance. Publish still holds the removal of all
	// applications, and of an instance because one in its dependsOn leaves. By default Hold.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Hold
	// +optional
	OnRemoval string `json:"onRemoval,omitempty"`

	// OnVersionRemoval decides about the removal of a version of an application, a version of an operator that would get
	// no upgrade any more, a live definition with versions that the application lacks, and an instance whose version is
	// gone or resolves lower. By default Hold.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Hold
	// +optional
	OnVersionRemoval string `json:"onVersionRemoval,omitempty"`

	// OnIdentityChange decides about another backend, another prefix of releases, or another kind, plural or group of an
	// application of Cozystack: its live HelmReleases would be orphaned, and installed again. It also decides about
	// another object or release of an instance: what runs would be uninstalled, and installed again. By default Hold.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Hold
	// +optional
	OnIdentityChange string `json:"onIdentityChange,omitempty"`

	// OnSourceChange decides about a version of an application, or a whole application of Cozystack, that stays and comes
	// from another chart, module, repository, commit, image or program: its releases are upgraded in place.
	// summary.sourceChanges counts the published changes. By default Publish.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Publish
	// +optional
	OnSourceChange string `json:"onSourceChange,omitempty"`

	// OnInstanceUpgrade decides about an instance whose range, or the default version of its definition, resolves to a
	// higher version, or whose channel changes. HoldMajor holds another major version, versions that are not semantic, and
	// another channel. A version that spec.instances names exactly is not held. By default HoldMajor.
	// +kubebuilder:validation:Enum=HoldMajor;Hold;Publish
	// +kubebuilder:default=HoldMajor
	// +optional
	OnInstanceUpgrade string `json:"onInstanceUpgrade,omitempty"`

	// OnMajorUpgrade decides about an application whose highest version rises to another major. By default Publish.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Publish
	// +optional
	OnMajorUpgrade string `json:"onMajorUpgrade,omitempty"`

	// Approve has a line for each loss that may be published, as status.held and winnow diff print it: argocd (the
	// application), argocd/2.13.0 (a version, argocd/* any version), Instance/monitoring, or Kind.group/namespace/name.
	// For other changes, a colon and the change follow: live, identity, source, major/N, upgrade/V, channel/C or
	// locked/path. A line counts once, for 24 hours after the controller saw it first, and longer while it names something
	// that is held; to approve the same loss again, write argocd#2. sha256:<checksum of the render> releases only what has
	// no name: a lost baseline, or a tag that the record does not know.
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

	// Unmanaged: Label sets the label catalog.winnow.dev/unmanaged on definitions that no selection holds, if the artifact
	// has their kind, and removes the labels of their former selections. By default Ignore.
	// +kubebuilder:validation:Enum=Ignore;Label
	// +kubebuilder:default=Ignore
	// +optional
	Unmanaged string `json:"unmanaged,omitempty"`

	// Serve: with Compared, the ExternalArtifact names no artifact until a Kustomization uses it and Winnow has compared
	// its inventory with the render. Otherwise, a Kustomization that used another source before would delete the objects
	// of its inventory that the artifact lacks. Always serves from the first publication on, for consumers that are no
	// Kustomizations. By default Compared.
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
