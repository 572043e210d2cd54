// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CatalogSelectionStatus has the last observation and the last publication of the controller.
type CatalogSelectionStatus struct {
	meta.ReconcileRequestStatus `json:",inline"`

	// ObservedGeneration is the generation of the spec that was reconciled last.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions: Ready, SourceReady and Held always; Reconciling, Stalled, Unmatched and Kept while they are True;
	// Applied where the cluster has Kustomizations; Pushed with spec.push; InstancesReady with spec.instances.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Artifact is the artifact that was published last. The ExternalArtifact of the same name has it, unless
	// it is withheld.
	// +optional
	Artifact *meta.Artifact `json:"artifact,omitempty"`

	// Withheld is the reason why the ExternalArtifact names no artifact: NoConsumer until the first
	// Kustomization that uses it was compared, Conflict while another selection or source holds one of the
	// published objects.
	// +optional
	Withheld string `json:"withheld,omitempty"`

	// Sources are the sources, in the spec's order, that the artifact was rendered from.
	// +listType=atomic
	// +optional
	Sources []SourceStatus `json:"sources,omitempty"`

	// SourceRevision is the shortened revision of the first source, for display: the tag of an
	// OCIRepository, or else the revision with twelve digits of its checksum.
	// +optional
	SourceRevision string `json:"sourceRevision,omitempty"`

	// Summary counts the applications of the sources that the artifact was rendered from.
	// +optional
	Summary *Summary `json:"summary,omitempty"`

	// Applications lists the applications in the artifact, by name; if they are many, only those with notes.
	// summary.selected counts all.
	// +listType=atomic
	// +optional
	Applications []ApplicationStatus `json:"applications,omitempty"`

	// ApplicationsTruncated is true if the artifact has more applications than are listed.
	// +optional
	ApplicationsTruncated bool `json:"applicationsTruncated,omitempty"`

	// Instances lists instances in the artifact, by name. The list is bounded; summary.instances counts all.
	// +listType=atomic
	// +optional
	Instances []InstanceStatus `json:"instances,omitempty"`

	// Excluded are the names of the available applications that are not in the artifact. It is absent if they are more
	// than twenty; summary.excluded counts all.
	// +listType=atomic
	// +optional
	Excluded []string `json:"excluded,omitempty"`

	// Deprecated lists the applications, versions and channels in the artifact that their catalog deprecates, by
	// application. The list is bounded; summary.deprecated and summary.deprecatedVersions count all.
	// +listType=atomic
	// +optional
	Deprecated []DeprecatedStatus `json:"deprecated,omitempty"`

	// Held has the changes that a safeguard holds, and the lines that name them.
	// +optional
	Held *HeldStatus `json:"held,omitempty"`

	// Leaving was written by earlier releases. The next publication removes it.
	// +listType=atomic
	// +optional
	Leaving []LeavingStatus `json:"leaving,omitempty"`

	// Approvals are the lines of spec.safeguards.approve that the controller has seen, with what became of them.
	// +listType=atomic
	// +optional
	Approvals []ApprovalStatus `json:"approvals,omitempty"`

	// ApprovalsRead identifies a publication that the status did not know, as after a restore. All lines of the spec then
	// counted as used, because nothing records which of them the publication used.
	// +optional
	ApprovalsRead string `json:"approvalsRead,omitempty"`

	// Consumers are the Kustomizations that use the artifact, by namespace and name. The list is
	// bounded.
	// +listType=atomic
	// +optional
	Consumers []ConsumerStatus `json:"consumers,omitempty"`

	// Claim has the objects that this selection publishes or claims, so that no other one publishes them. Only the controller writes it.
	// +optional
	Claim *Claim `json:"claim,omitempty"`

	// Claims was written by earlier releases. The next publication removes it.
	// +kubebuilder:validation:MaxLength=524288
	// +optional
	Claims []byte `json:"claims,omitempty"`

	// Bypassed are the names of the bypassed live definitions that the selection holds or has applied. The list is
	// bounded; summary.bypassed counts all.
	// +listType=atomic
	// +optional
	Bypassed []string `json:"bypassed,omitempty"`

	// Push is the artifact that was last pushed to the registry of spec.push.
	// +optional
	Push *PushStatus `json:"push,omitempty"`

	// History of the artifacts, newest first.
	// +optional
	History meta.History `json:"history,omitempty"`

	// WrittenRecord is the controller's own record of the artifact, which the safeguards compare with a new revision.
	// It must not be written by others. It is absent if it would be larger than 256 KiB. Its name sorts last, so
	// kubectl prints it last.
	// +optional
	WrittenRecord *WrittenRecord `json:"writtenRecord,omitempty"`
}

// ApprovalStatus is a line of spec.safeguards.approve.
type ApprovalStatus struct {
	// Line as it stands in the spec.
	Line string `json:"line"`
	// Seen is when the controller saw it first.
	Seen metav1.Time `json:"seen"`
	// Used is when a publication used the line, or when the controller found the line together with a publication that the
	// status did not know. The line names nothing any more.
	// +optional
	Used *metav1.Time `json:"used,omitempty"`
	// Left is when the line was no longer in the spec. The controller forgets the line 30 days later.
	// +optional
	Left *metav1.Time `json:"left,omitempty"`
}

// WrittenRecord is a record of a publication.
type WrittenRecord struct {
	// Format is the version of the format of packed. A controller ignores a record in a format that it does
	// not know.
	// +kubebuilder:validation:Minimum=2
	Format int32 `json:"format"`

	// Packed is gzip-compressed JSON of the spec, the addresses of the sources and every definition with its versions.
	// +kubebuilder:validation:MaxLength=262144
	Packed []byte `json:"packed"`
}

// HeldStatus has the changes that a safeguard holds, and the lines that release them.
type HeldStatus struct {
	// Revision is the held revision of a single source; for several sources kind/namespace/name=revision,
	// separated by commas.
	Revision string `json:"revision"`

	// Approve lists the lines to add to spec.safeguards.approve. The list is bounded: once these lines are in the spec, it
	// has the next ones. It is empty if no line releases the hold.
	// +listType=atomic
	// +optional
	Approve []string `json:"approve,omitempty"`

	// Reasons, by application. The list is bounded; total is the number of all.
	// +listType=atomic
	Reasons []HeldReason `json:"reasons"`

	// Named are the lines of the spec that name a part of the losses. They count while the render is held.
	// +listType=atomic
	// +optional
	Named []string `json:"named,omitempty"`

	// Total is the number of reasons, listed or not.
	Total int32 `json:"total"`
}

// HeldReason is one held change.
type HeldReason struct {
	// Reason is Removal, IdentityChange, VersionRemoval, Stranded, Adoption, SourceChange, InstanceUpgrade, LockedValue,
	// MajorUpgrade, BackendNotAvailable, PruneNotDisabled or BaselineLost.
	Reason string `json:"reason"`
	// Application that changes; empty for the selection as a whole.
	// +optional
	Application string `json:"application,omitempty"`
	// Instance of spec.instances that changes; empty for a definition.
	// +optional
	Instance string `json:"instance,omitempty"`
	// Versions that would be lost, or come from another source. The list is bounded.
	// +listType=atomic
	// +optional
	Versions []string `json:"versions,omitempty"`
	// Message describes the change.
	Message string `json:"message"`
	// Approve lists the lines that name this change.
	// +listType=atomic
	// +optional
	Approve []string `json:"approve,omitempty"`
}

// LeavingStatus is a live object that the selection no longer selects, and that it does not give up yet.
type LeavingStatus struct {
	// APIVersion of the object.
	APIVersion string `json:"apiVersion"`
	// Kind of the object.
	Kind string `json:"kind"`
	// Namespace of the object; absent for one without.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// Name of the object in the cluster.
	Name string `json:"name"`
	// Since is the time of the first attempt to publish without the object. The wait for other CatalogSelections is
	// bounded from then on, whatever they do.
	Since metav1.Time `json:"since"`
	// Receiver is the namespace/name of the CatalogSelection that may take the object over, once that is known.
	// +optional
	Receiver string `json:"receiver,omitempty"`
	// Placeholder is true if the artifact has a placeholder of the object: Flux keeps the object in its inventory,
	// and neither changes nor deletes it.
	// +optional
	Placeholder bool `json:"placeholder,omitempty"`
}

// ConsumerStatus is a Kustomization that uses the artifact.
type ConsumerStatus struct {
	// Namespace of the Kustomization.
	Namespace string `json:"namespace"`
	// Name of the Kustomization.
	Name string `json:"name"`
	// Remote is true if it applies to another cluster, using its kubeConfig.
	// +optional
	Remote bool `json:"remote,omitempty"`
	// Revision that it applied last.
	// +optional
	Revision string `json:"revision,omitempty"`
	// Message of the Kustomization while it has not applied the artifact. It is bounded.
	// +optional
	Message string `json:"message,omitempty"`
}

// SourceStatus is a source that the artifact was rendered from.
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
	// Instances is the number of instances in the artifact.
	// +optional
	Instances int32 `json:"instances,omitempty"`
	// Excluded is the number of available applications that are not in the artifact.
	Excluded int32 `json:"excluded"`
	// Shadowed is the number of applications that an earlier source has as well.
	Shadowed int32 `json:"shadowed"`
	// Deprecated is the number of applications in the artifact that their catalog deprecates.
	// +optional
	Deprecated int32 `json:"deprecated,omitempty"`
	// DeprecatedVersions is the number of versions in the artifact that their catalog deprecates.
	// +optional
	DeprecatedVersions int32 `json:"deprecatedVersions,omitempty"`
	// SourceChanges is the number of applications with a version that stayed in the last publication, and came from
	// another chart, repository or commit.
	// +optional
	SourceChanges int32 `json:"sourceChanges,omitempty"`
	// Unmirrored is the number of hosts that no mirror covers, while there are mirrors.
	// +optional
	Unmirrored int32 `json:"unmirrored,omitempty"`
	// Bypassed is the number of bypassed live definitions that the selection holds or has applied.
	// +optional
	Bypassed int32 `json:"bypassed,omitempty"`
	// Unmanaged is the number of live definitions that the selection marks as unmanaged.
	// +optional
	Unmanaged int32 `json:"unmanaged,omitempty"`
	// Orphaned is the number of live definitions that left the artifact, and that an annotation keeps in the cluster.
	// +optional
	Orphaned int32 `json:"orphaned,omitempty"`
}

// ApplicationStatus is an application in the artifact.
type ApplicationStatus struct {
	// Name is the object's metadata.name.
	Name string `json:"name"`
	// Source is the name of the source.
	// +optional
	Source string `json:"source,omitempty"`
	// Notes describe differences between the application and its catalog, and further facts: versions that
	// are left out, a deprecation, other sources that have it as well.
	// +listType=atomic
	// +optional
	Notes []string `json:"notes,omitempty"`
	// Versions of spec.versions, in the catalog's order.
	// +listType=atomic
	// +optional
	Versions []string `json:"versions,omitempty"`
	// Tier in the metadata.yaml.
	// +optional
	Tier string `json:"tier,omitempty"`
}

// InstanceStatus is an instance in the artifact.
type InstanceStatus struct {
	// Name of the instance.
	Name string `json:"name"`
	// Application is the metadata.name of its definition.
	Application string `json:"application"`
	// Source is the name of the source of the definition.
	// +optional
	Source string `json:"source,omitempty"`
	// Version that is installed; empty for definitions without versions.
	// +optional
	Version string `json:"version,omitempty"`
	// Backend that installs it.
	Backend string `json:"backend"`
	// Object is <kind> <namespace>/<name> of the object whose deletion uninstalls it.
	Object string `json:"object"`

	InstanceState `json:",inline"`
}

// InstanceState is the state of an instance, as its live object reports it. It is empty until the object was read.
type InstanceState struct {
	// Ready is the status of the condition that shows whether the object is ready. It is Unknown if the object cannot be
	// read, has not observed its last edit, or reports only that something is installed.
	// +kubebuilder:validation:Enum=True;False;Unknown
	// +optional
	Ready metav1.ConditionStatus `json:"ready,omitempty"`
	// Message of the condition, or why nothing is known. It is one line, bounded and redacted.
	// +optional
	Message string `json:"message,omitempty"`
	// LastAppliedRevision is what the object has installed last: the version of a chart or of an operator, or the revision
	// of a module.
	// +optional
	LastAppliedRevision string `json:"lastAppliedRevision,omitempty"`
	// Outputs of a Terraform object. Their values are never read.
	// +optional
	Outputs *InstanceOutputs `json:"outputs,omitempty"`
	// PendingPlan is the plan of a Terraform object that waits for approval.
	// +optional
	PendingPlan string `json:"pendingPlan,omitempty"`
}

// InstanceOutputs names the outputs of a Terraform object.
type InstanceOutputs struct {
	// SecretName is the Secret that tofu-controller writes the outputs to, in the namespace of the object.
	// +optional
	SecretName string `json:"secretName,omitempty"`
	// Available are the names of the outputs. The list is bounded.
	// +listType=atomic
	// +optional
	Available []string `json:"available,omitempty"`
}

// DeprecatedStatus is a message of a catalog about an application, or versions or channels of one.
type DeprecatedStatus struct {
	// Application is the object's metadata.name.
	Application string `json:"application"`
	// Versions that the message is about. Without versions and channels, it is about the whole application. The list is
	// bounded.
	// +listType=atomic
	// +optional
	Versions []string `json:"versions,omitempty"`
	// Channels of a package of operators that the message is about. The list is bounded.
	// +listType=atomic
	// +optional
	Channels []string `json:"channels,omitempty"`
	// Message of the catalog. It is bounded.
	Message string `json:"message"`
}
