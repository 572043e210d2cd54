package v1alpha1

import (
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CatalogSelectionStatus is what the controller observed and published last.
type CatalogSelectionStatus struct {
	meta.ReconcileRequestStatus `json:",inline"`

	// ObservedGeneration is the generation of the spec that was reconciled last.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions: Ready always; Reconciling, Stalled, Held and Unmatched while they are True; Applied where
	// the cluster has Kustomizations; Pushed with spec.push.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Artifact is what was published last. The ExternalArtifact of the same name carries it, unless it
	// is withheld.
	// +optional
	Artifact *meta.Artifact `json:"artifact,omitempty"`

	// Withheld says why the ExternalArtifact names no artifact: NoConsumer until the first Kustomization
	// that uses it was compared, Conflict while another selection or source holds what is published.
	// +optional
	Withheld string `json:"withheld,omitempty"`

	// Sources are the sources, in the spec's order, that the artifact was rendered from.
	// +listType=atomic
	// +optional
	Sources []SourceStatus `json:"sources,omitempty"`

	// Summary counts the applications of the sources that the artifact was rendered from.
	// +optional
	Summary *Summary `json:"summary,omitempty"`

	// Applications are those in the artifact, by name. The list is bounded.
	// +listType=atomic
	// +optional
	Applications []ApplicationStatus `json:"applications,omitempty"`

	// ApplicationsTruncated says that the artifact holds more applications than are listed.
	// +optional
	ApplicationsTruncated bool `json:"applicationsTruncated,omitempty"`

	// Held says what a safeguard keeps from being published, and how to release it.
	// +optional
	Held *HeldStatus `json:"held,omitempty"`

	// UsedApprovals are the entries of spec.safeguards.approve whose revision was published, or was
	// held while something else was published. They release nothing any more; another #note makes a new
	// entry.
	// +listType=atomic
	// +optional
	UsedApprovals []string `json:"usedApprovals,omitempty"`

	// Consumers are the Kustomizations that use the artifact, by namespace and name. The list is
	// bounded.
	// +listType=atomic
	// +optional
	Consumers []ConsumerStatus `json:"consumers,omitempty"`

	// Bypassed are the names of the live definitions, of those that the selection holds or has
	// applied, that are bypassed. The list is bounded; summary.bypassed is not.
	// +listType=atomic
	// +optional
	Bypassed []string `json:"bypassed,omitempty"`

	// Push is what was put into the registry of spec.push last.
	// +optional
	Push *PushStatus `json:"push,omitempty"`

	// Published is the controller's own record of the artifact, with which the safeguards compare
	// a new revision: gzip-compressed JSON of the spec, the addresses of the sources and every
	// definition with its versions. It is absent when it would be larger than 256 KiB.
	// +kubebuilder:validation:MaxLength=262144
	// +optional
	Published []byte `json:"published,omitempty"`

	// History of the artifacts, newest first.
	// +optional
	History meta.History `json:"history,omitempty"`
}

// HeldStatus is what a safeguard holds.
type HeldStatus struct {
	// Revision of the sources that is held: of a single source as it is, of several as
	// kind/namespace/name=revision, separated by commas.
	Revision string `json:"revision"`

	// Approve lists what spec.safeguards.approve has to have for the change to be published. Empty
	// when approval cannot release it.
	// +listType=atomic
	// +optional
	Approve []string `json:"approve,omitempty"`

	// Reasons, by application. The list is bounded; total is the number of all.
	// +listType=atomic
	Reasons []HeldReason `json:"reasons"`

	// Total is the number of reasons, listed or not.
	Total int32 `json:"total"`
}

// HeldReason is one change that is held.
type HeldReason struct {
	// Reason is Removal, UnknownName, IdentityChange, VersionRemoval, Adoption, SourceChange,
	// MajorUpgrade, EmptyResult or BaselineLost.
	Reason string `json:"reason"`
	// Application that is concerned; empty when it is the selection as a whole.
	// +optional
	Application string `json:"application,omitempty"`
	// Versions that would be lost, or come from another source. The list is bounded.
	// +listType=atomic
	// +optional
	Versions []string `json:"versions,omitempty"`
	// Message for people.
	Message string `json:"message"`
}

// ConsumerStatus is a Kustomization that uses the artifact.
type ConsumerStatus struct {
	// Namespace of the Kustomization.
	Namespace string `json:"namespace"`
	// Name of the Kustomization.
	Name string `json:"name"`
	// Remote is true when it applies to another cluster, by its kubeConfig.
	// +optional
	Remote bool `json:"remote,omitempty"`
	// Revision that it applied last.
	// +optional
	Revision string `json:"revision,omitempty"`
	// Message is what it reports while it has not applied the artifact. It is bounded.
	// +optional
	Message string `json:"message,omitempty"`
}

// SourceStatus is a source as it was rendered.
type SourceStatus struct {
	// Kind of the source.
	Kind string `json:"kind"`
	// Name of the source.
	Name string `json:"name"`
	// Namespace of the source.
	Namespace string `json:"namespace"`
	// Revision of the source's artifact.
	Revision string `json:"revision"`
	// Digest of the source's artifact, <algorithm>:<checksum>.
	Digest string `json:"digest"`
}

// Summary counts applications.
type Summary struct {
	// Available is the number of different applications in all sources.
	Available int32 `json:"available"`
	// Selected is the number of applications in the artifact.
	Selected int32 `json:"selected"`
	// Excluded is the number of available applications that are not in the artifact.
	Excluded int32 `json:"excluded"`
	// Shadowed is the number of applications that a source listed earlier has as well.
	Shadowed int32 `json:"shadowed"`
	// Deprecated is the number of applications in the artifact that their catalog deprecates.
	// +optional
	Deprecated int32 `json:"deprecated,omitempty"`
	// SourceChanges is the number of applications of which the last publication took a version, that
	// was published before, from another chart, repository or commit.
	// +optional
	SourceChanges int32 `json:"sourceChanges,omitempty"`
	// Unmirrored is the number of hosts that no mirror covers, while there are mirrors.
	// +optional
	Unmirrored int32 `json:"unmirrored,omitempty"`
	// Bypassed is the number of live definitions, of those that the selection holds or has
	// applied, that are bypassed.
	// +optional
	Bypassed int32 `json:"bypassed,omitempty"`
	// Unmanaged is the number of live definitions that the selection marks as unmanaged.
	// +optional
	Unmanaged int32 `json:"unmanaged,omitempty"`
}

// ApplicationStatus is an application in the artifact.
type ApplicationStatus struct {
	// Name is the object's metadata.name.
	Name string `json:"name"`
	// Source is the name of the source.
	// +optional
	Source string `json:"source,omitempty"`
	// Versions are those of spec.versions, in the catalog's order.
	// +listType=atomic
	// +optional
	Versions []string `json:"versions,omitempty"`
	// Tier is that of the metadata.yaml.
	// +optional
	Tier string `json:"tier,omitempty"`
}
