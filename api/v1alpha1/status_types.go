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

	// Conditions: Ready always; Reconciling, Stalled and Held while they are True.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Artifact is what the ExternalArtifact of the same name carries.
	// +optional
	Artifact *meta.Artifact `json:"artifact,omitempty"`

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

	// History of the artifacts, newest first.
	// +optional
	History meta.History `json:"history,omitempty"`
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
	// Unmirrored is the number of hosts that no mirror covers, while there are mirrors.
	// +optional
	Unmirrored int32 `json:"unmirrored,omitempty"`
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
