package v1alpha1

// CatalogSelectionFinalizer keeps a CatalogSelection until its ExternalArtifact and its stored
// archives are gone.
const CatalogSelectionFinalizer = "catalog.winnow.dev/finalizer"

// Condition types besides Ready, Reconciling and Stalled of Flux.
const (
	// HeldCondition is True while a safeguard keeps a new render from being published.
	// Its reason says which; Ready stays True on the last good artifact, if there is one.
	HeldCondition = "Held"
)

// Reasons of conditions and events. Whatever fails, the last good artifact stays served.
const (
	// SucceededReason: the artifact carries what the spec and the sources say.
	SucceededReason = "Succeeded"
	// SourceNotReadyReason: a source does not exist or has no artifact yet.
	SourceNotReadyReason = "SourceNotReady"
	// AccessDeniedReason: a source in another namespace, while such references are forbidden.
	AccessDeniedReason = "AccessDenied"
	// FetchFailedReason: a source's artifact could not be downloaded, or has another digest.
	FetchFailedReason = "FetchFailed"
	// InvalidArchiveReason: a source's artifact is not an archive, is hostile, or exceeds a limit.
	InvalidArchiveReason = "InvalidArchive"
	// InvalidCatalogReason: a source's content breaks the catalog format.
	InvalidCatalogReason = "InvalidCatalog"
	// InvalidSpecReason: the spec asks for something that cannot be done.
	InvalidSpecReason = "InvalidSpec"
	// EmptyResultReason: the selection is empty, which is never published.
	EmptyResultReason = "EmptyResult"
	// NameConflictReason: an ExternalArtifact of this name exists and belongs to somebody else.
	NameConflictReason = "NameConflict"
	// StorageFailedReason: the archive or the ExternalArtifact could not be written.
	StorageFailedReason = "StorageFailed"
	// GarbageCollectedReason: archives that are no longer referenced were deleted.
	GarbageCollectedReason = "GarbageCollected"
)

// Labels of every object in the artifact of a CatalogSelection.
const (
	// ManagedByLabel has the value ManagedByValue.
	ManagedByLabel = "app.kubernetes.io/managed-by"
	// ManagedByValue says that Winnow rendered the object.
	ManagedByValue = "winnow"
	// NameLabel is the name of the CatalogSelection.
	NameLabel = "catalog.winnow.dev/name"
	// NamespaceLabel is the namespace of the CatalogSelection.
	NamespaceLabel = "catalog.winnow.dev/namespace"
)

// SourceDigestAnnotation is, under provenance: Object, the digest of the source that an object
// came from.
const SourceDigestAnnotation = "catalog.winnow.dev/source-digest"
