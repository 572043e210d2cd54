// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// CatalogSelectionFinalizer was set by controllers before v0.1.0, and kept a CatalogSelection until its ExternalArtifact and
// its stored archives were gone. Controllers remove it: without one, a selection can be deleted while no controller runs.
const CatalogSelectionFinalizer = "catalog.winnow.dev/finalizer"

// Condition types besides Ready, Reconciling and Stalled of Flux.
const (
	// HeldCondition is True while a safeguard holds a new render, with the reason of the most serious
	// change; Ready stays True on the last good artifact, if there is one. It is Unknown while an edited
	// spec waits and one before it was held, with the reason of Ready, and otherwise False.
	HeldCondition = "Held"
	// SourceReadyCondition is True when every source is Ready, and has the reason and the message of the
	// first one that is not. Ready stays True on the last good artifact meanwhile.
	SourceReadyCondition = "SourceReady"
	// AppliedCondition is True when every Kustomization that uses the artifact is Ready at its
	// revision, and Unknown while none uses it. It is absent where the cluster has no
	// Kustomizations, or the controller may not see them.
	AppliedCondition = "Applied"
	// UnmatchedCondition is True while names in the spec match nothing in the catalogs, or no document
	// has one of the fields to omit.
	UnmatchedCondition = "Unmatched"
	// PushedCondition is True when the registry of spec.push has the artifact, and its tags name it.
	// Absent without spec.push, and before the first publication.
	PushedCondition = "Pushed"
	// KeptCondition is True, with the reason Handover, while objects that the selection no longer selects
	// stay in the cluster, because another CatalogSelection may take them over.
	KeptCondition = "Kept"
	// InstancesReadyCondition is True when every instance in the artifact is ready, and False while one is not. Ready
	// does not depend on it. Absent without spec.instances.
	InstancesReadyCondition = "InstancesReady"
)

// Reasons of conditions and events. Whatever fails, the last good artifact stays served.
const (
	// SucceededReason: the artifact is the one of the current spec and sources.
	SucceededReason = "Succeeded"
	// SourceNotReadyReason: a source does not exist or has no artifact yet.
	SourceNotReadyReason = "SourceNotReady"
	// AccessDeniedReason: a source is in another namespace, and such references are forbidden.
	AccessDeniedReason = "AccessDenied"
	// FetchFailedReason: a source's artifact could not be downloaded, or has another digest.
	FetchFailedReason = "FetchFailed"
	// VerificationFailedReason: Flux has not verified a source's artifact, though the spec requires it.
	VerificationFailedReason = "VerificationFailed"
	// InvalidArchiveReason: a source's artifact is not an archive, is hostile, or exceeds a limit.
	InvalidArchiveReason = "InvalidArchive"
	// InvalidCatalogReason: a source's content breaks the catalog format.
	InvalidCatalogReason = "InvalidCatalog"
	// ContractViolatedReason: the manifest of a source's artifact is not a catalog's manifest.
	ContractViolatedReason = "ContractViolated"
	// InvalidSpecReason: the spec is invalid, or cannot be applied to the catalogs.
	InvalidSpecReason = "InvalidSpec"
	// TimedOutReason: rendering and publishing took too long, and is retried.
	TimedOutReason = "TimedOut"
	// EmptyResultReason: the selection is empty.
	EmptyResultReason = "EmptyResult"
	// RemovalReason: a published application would be removed.
	RemovalReason = "Removal"
	// VersionRemovalReason: a published version of an application would be removed.
	VersionRemovalReason = "VersionRemoval"
	// StrandedReason: a version of a published package of operators would leave a channel, and no version that the
	// channel keeps succeeds it: clusters that have it installed would get no upgrades any more.
	StrandedReason = "Stranded"
	// IdentityChangeReason: a field of an application would change that decides which live releases
	// it means: these would be orphaned, and installed again under other names.
	IdentityChangeReason = "IdentityChange"
	// SourceChangeReason: a version of an application would stay, and come from another chart,
	// repository or commit: its releases would be upgraded in place.
	SourceChangeReason = "SourceChange"
	// MajorUpgradeReason: the highest version of an application would rise to another major.
	MajorUpgradeReason = "MajorUpgrade"
	// InstanceUpgradeReason: an instance would rise to another version.
	InstanceUpgradeReason = "InstanceUpgrade"
	// LockedValueReason: a value of an instance would change that its application locks.
	LockedValueReason = "LockedValue"
	// BackendNotAvailableReason: the cluster does not serve a kind that the backend of an instance makes.
	BackendNotAvailableReason = "BackendNotAvailable"
	// PruneNotDisabledReason: with deletionPolicy Orphan, an object leaves whose live object lacks the annotation that keeps
	// Flux from deleting it, and Winnow could not set it.
	PruneNotDisabledReason = "PruneNotDisabled"
	// AdoptionReason: a definition that lives in the cluster, and that the selection does not
	// publish yet, has versions that the application lacks.
	AdoptionReason = "Adoption"
	// BaselineLostReason: the last publication is not known any more, so that a new revision cannot be
	// compared with it.
	BaselineLostReason = "BaselineLost"
	// ConflictReason: another selection, or another source of Flux, holds the same live object.
	ConflictReason = "Conflict"
	// HandoverReason: applications move to another selection, which has to be evaluated, or has to have
	// applied them, before this selection gives them up.
	HandoverReason = "Handover"
	// SourceLoopReason: the selection has its own artifact as a source, through the artifacts of other selections.
	SourceLoopReason = "SourceLoop"
	// SourcesUnsettledReason: an edit of the spec removes applications or versions, and Flux may not have
	// observed yet the sources that were edited with it.
	SourcesUnsettledReason = "SourcesUnsettled"
	// NameConflictReason: an ExternalArtifact of this name exists and belongs to another owner.
	NameConflictReason = "NameConflict"
	// StorageFailedReason: the archive or the ExternalArtifact could not be written.
	StorageFailedReason = "StorageFailed"
	// QuotaExceededReason: a ResourceQuota of the namespace does not allow the ExternalArtifact.
	QuotaExceededReason = "QuotaExceeded"
	// NamespaceTerminatingReason: the namespace is being deleted, and accepts no ExternalArtifact.
	NamespaceTerminatingReason = "NamespaceTerminating"
	// MarksForbiddenReason: the controller, or the account that it impersonates, may not read or mark
	// the definitions of a kind, so that a bypass is not honored and adoption not guarded.
	MarksForbiddenReason = "MarksForbidden"
)

// Reasons of Applied besides Succeeded and Suspended.
const (
	// NoConsumerReason: no Kustomization uses the artifact.
	NoConsumerReason = "NoConsumer"
	// ProgressingReason: a Kustomization has not applied the revision yet.
	ProgressingReason = "Progressing"
	// ApplyFailedReason: a Kustomization failed to apply the revision.
	ApplyFailedReason = "ApplyFailed"
	// SuspendedReason: a suspended Kustomization stays at another revision.
	SuspendedReason = "Suspended"
	// FeatureGateDisabledReason: kustomize-controller runs without the feature gate that lets
	// Kustomizations use an ExternalArtifact.
	FeatureGateDisabledReason = "FeatureGateDisabled"
)

// NothingHeldReason is the reason of Held while it is False.
const NothingHeldReason = "NothingHeld"

// Reasons of InstancesReady besides Succeeded, Progressing and the reasons of Applied.
const (
	// InstanceNotReadyReason: an instance is not ready.
	InstanceNotReadyReason = "InstanceNotReady"
	// InstanceUnknownReason: of an instance it is not known whether it is ready.
	InstanceUnknownReason = "InstanceUnknown"
)

// NoMatchReason is the reason of Unmatched.
const NoMatchReason = "NoMatch"

// Reasons of Pushed besides Succeeded, Progressing and the reasons of holds.
const (
	// PushFailedReason: the registry could not be reached, or refused the push.
	PushFailedReason = "PushFailed"
	// TagConflictReason: a tag names an artifact that is not of this selection, and was not moved.
	TagConflictReason = "TagConflict"
)

// Labels of every object in the artifact of a CatalogSelection.
const (
	// ManagedByLabel has the value ManagedByValue.
	ManagedByLabel = "app.kubernetes.io/managed-by"
	// ManagedByValue marks objects that Winnow rendered.
	ManagedByValue = "winnow"
	// NameLabel is the name of the CatalogSelection.
	NameLabel = "catalog.winnow.dev/name"
	// NamespaceLabel is the namespace of the CatalogSelection.
	NamespaceLabel = "catalog.winnow.dev/namespace"
)

// Annotations of the object whose deletion uninstalls an instance.
const (
	// InstanceAnnotation is the name of the instance.
	InstanceAnnotation = "catalog.winnow.dev/instance"
	// ApplicationAnnotation is the metadata.name of the definition that it installs.
	ApplicationAnnotation = "catalog.winnow.dev/application"
	// VersionAnnotation is the version of the application; absent for definitions without versions.
	VersionAnnotation = "catalog.winnow.dev/version"
)

// SourceDigestAnnotation is, with provenance: Object, the digest of the source of an object.
const SourceDigestAnnotation = "catalog.winnow.dev/source-digest"

// The manifest of a pushed artifact: its type, and its annotations besides
// org.opencontainers.image.revision, which has the revisions of the sources in Flux's format.
const (
	// RenderedArtifactType is the artifactType.
	RenderedArtifactType = "application/vnd.winnow.rendered.v1"
	// RevisionAnnotation is the revision of the ExternalArtifact with the same content.
	RevisionAnnotation = "catalog.winnow.dev/revision"
	// SelectionAnnotation is namespace/name of the CatalogSelection.
	SelectionAnnotation = "catalog.winnow.dev/selection"
)

// ApproveAnnotation of an OCIRepository in Git has the lines that name what its promotion loses, in the grammar of
// spec.safeguards.approve. They count in the change that adds them.
const ApproveAnnotation = "catalog.winnow.dev/approve"

// IgnoreRisksAnnotation of a CatalogSelection has a line for each rule of an application that winnow diff --charts ignores:
// APPLICATION RULE: REASON. The controller does not read it.
const IgnoreRisksAnnotation = "catalog.winnow.dev/ignore-risks"

// NoCatalogsAnnotation of a ResourceSet, a HelmRelease or a Kustomization in Git has the reason for which what it makes, or
// applies from elsewhere, has nothing to do with catalogs. winnow diff --git takes it from the older commit.
const NoCatalogsAnnotation = "catalog.winnow.dev/no-catalogs"

// Labels and annotations of live definitions.
const (
	// BypassLabel, with any value, keeps Flux from updating and deleting a definition.
	BypassLabel = "apps.k8c.io/application-bypass" //nolint:gosec // a label, no credential
	// UnmanagedLabel, with the value "true", marks a definition that no selection holds.
	UnmanagedLabel = "catalog.winnow.dev/unmanaged"
	// TierLabel on a definition of a catalog of the format Definitions is its tier.
	TierLabel = "catalog.winnow.dev/tier"
	// BypassMarkAnnotation marks an annotation for the bypass that the optional admission policy has set,
	// so that Winnow may remove both.
	BypassMarkAnnotation = "catalog.winnow.dev/bypass-mark"
)
