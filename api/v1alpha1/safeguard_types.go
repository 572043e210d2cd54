package v1alpha1

// Safeguards say which changes that follow from a new revision of a catalog are held instead of
// published. A change that follows from an edit of this spec was reviewed, and passes; except an
// empty result.
type Safeguards struct {
	// OnEmpty: the selection is empty, whatever the cause. Hold keeps the last artifact. Publish
	// publishes an artifact without objects; applications that the catalog took away are held by
	// onRemoval all the same.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Hold
	// +optional
	OnEmpty string `json:"onEmpty,omitempty"`

	// OnRemoval: an application vanishes.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Hold
	// +optional
	OnRemoval string `json:"onRemoval,omitempty"`

	// OnVersionRemoval: a version of an application vanishes. It also says what happens when a
	// definition that lives in the cluster has versions that the application lacks.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Hold
	// +optional
	OnVersionRemoval string `json:"onVersionRemoval,omitempty"`

	// OnIdentityChange: spec.release.prefix, spec.application.kind or spec.application.plural of one
	// of Cozystack's applications changes. These decide which HelmReleases it means: the live ones
	// would be orphaned, and installed anew.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Hold
	// +optional
	OnIdentityChange string `json:"onIdentityChange,omitempty"`

	// OnSourceChange: a version of an application stays, and comes from another chart, repository or
	// commit, so that what runs is upgraded in place; or so does a whole application of Cozystack.
	// summary.sourceChanges counts what was published.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Publish
	// +optional
	OnSourceChange string `json:"onSourceChange,omitempty"`

	// OnMajorUpgrade: the highest version of an application rises to another major.
	// +kubebuilder:validation:Enum=Hold;Publish
	// +kubebuilder:default=Publish
	// +optional
	OnMajorUpgrade string `json:"onMajorUpgrade,omitempty"`

	// Approve lists what is accepted of what is held: <algorithm>:<hex>, or <algorithm>:<hex>#<note>. The
	// checksum is that of a source's revision; of an OCIRepository it is the digest of the manifest.
	// Where several sources changed, each has to be listed. Of a GitRepository or a Bucket, where no
	// source changed, and before the first publication, it is that of the render, as status.held says.
	// An entry is used up once what it names is published, and also when that was held and something
	// else was published instead; another note makes it a new one. An empty result cannot be approved.
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
	// SafeguardPublish lets the change pass.
	SafeguardPublish = "Publish"
)

// Cluster says what happens to definitions that live in this cluster.
type Cluster struct {
	// Bypass: Honor keeps Flux from updating and deleting definitions with the label
	// apps.k8c.io/application-bypass. Ignore does not look at the label.
	// +kubebuilder:validation:Enum=Honor;Ignore
	// +kubebuilder:default=Honor
	// +optional
	Bypass string `json:"bypass,omitempty"`

	// Unmanaged: Label marks definitions of the same kinds that no selection holds with the label
	// catalog.winnow.dev/unmanaged, and takes off the labels of selections that they left.
	// +kubebuilder:validation:Enum=Ignore;Label
	// +kubebuilder:default=Ignore
	// +optional
	Unmanaged string `json:"unmanaged,omitempty"`

	// Serve: Compared names no artifact in the ExternalArtifact until a Kustomization uses it and its
	// inventory was compared with what is rendered: a Kustomization that is pointed here from elsewhere
	// deletes what its inventory has and the artifact lacks. Always serves from the first publication
	// on, for consumers that are no Kustomizations.
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
	// BypassHonor keeps Flux's hands off bypassed definitions.
	BypassHonor = "Honor"
	// BypassIgnore does not look at the label.
	BypassIgnore = "Ignore"
	// UnmanagedIgnore leaves definitions that no selection holds alone.
	UnmanagedIgnore = "Ignore"
	// UnmanagedLabelled labels them.
	UnmanagedLabelled = "Label"
	// ServeCompared serves what was compared with the inventory of a consumer.
	ServeCompared = "Compared"
	// ServeAlways serves from the first publication on.
	ServeAlways = "Always"
)
