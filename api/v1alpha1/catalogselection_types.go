package v1alpha1

import (
	"time"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CatalogSelectionSpec says which applications of which catalogs the artifact holds.
type CatalogSelectionSpec struct {
	// Interval at which the selection is reconciled although nothing happened, and at which
	// sources that are not ready are looked at again. It is jittered. At least 1s.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="must be at least 1s"
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +kubebuilder:default="10m"
	// +optional
	Interval metav1.Duration `json:"interval,omitzero"`

	// Suspend stops the reconciliation; the last artifact stays served.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// Sources are the catalogs, in order: of an application that is in several, the first
	// source's is taken.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.kind == b.kind && a.name == b.name && (has(a.__namespace__) ? a.__namespace__ : '') == (has(b.__namespace__) ? b.__namespace__ : '') && (has(a.path) ? a.path : '') == (has(b.path) ? b.path : '')))",message="each source may be listed once"
	// +listType=atomic
	// +required
	Sources []SourceReference `json:"sources"`

	// Limit narrows the selection; every member that is set must hold. Absent: everything.
	// +optional
	Limit *Limit `json:"limit,omitempty"`

	// Exclude lists names of applications that are left out, whatever limit says.
	// +kubebuilder:validation:MaxItems=5000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	Exclude []string `json:"exclude,omitempty"`

	// Versions says which entries of spec.versions stay. An application has to pass every rule
	// that names it; one that is left without versions is not selected.
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	// +optional
	Versions []VersionRule `json:"versions,omitempty"`

	// Mirrors rewrite the addresses of charts, Git repositories and images; of several that
	// match, the longest from wins.
	// +kubebuilder:validation:MaxItems=256
	// +listType=map
	// +listMapKey=from
	// +optional
	Mirrors []Mirror `json:"mirrors,omitempty"`

	// RequireMirrors refuses, as InvalidSpec, a selection with a host that no mirror covers.
	// +kubebuilder:default=false
	// +optional
	RequireMirrors bool `json:"requireMirrors,omitempty"`

	// Values are merged into the default values of applications, in order.
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	// +optional
	Values []ValuesRule `json:"values,omitempty"`

	// OmitFields are fields of spec that the artifact leaves out, so that what the admins of a
	// cluster set there survives. A dot leads into a mapping. Absent: default, enforced and
	// selector of KKP's ApplicationDefinitions. An empty list omits nothing.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:Pattern="^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$"
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!self.exists(f, f in ['versions', 'method'])",message="versions and method cannot be omitted: without them a definition installs nothing"
	// +listType=set
	// +optional
	OmitFields []string `json:"omitFields,omitzero"`

	// CommonMetadata is added to every object of the artifact.
	// +optional
	CommonMetadata *CommonMetadata `json:"commonMetadata,omitempty"`

	// Patches are applied by kustomize to the objects of the artifact, as in a Flux
	// Kustomization: a strategic merge patch, or a JSON 6902 patch with a target. Each must
	// match an object.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Patches []kustomize.Patch `json:"patches,omitempty"`

	// Prune lets Flux delete the objects that leave the artifact. While it is false, every
	// object carries kustomize.toolkit.fluxcd.io/prune: disabled, so that no Kustomization
	// deletes it.
	// +kubebuilder:default=false
	// +optional
	Prune bool `json:"prune,omitempty"`

	// Provenance says where the sources' digests are recorded. Artifact: in the artifact's
	// metadata only. Object: also as an annotation of every object, which then changes with
	// every revision of its source; in KKP any change of a definition re-queues all its
	// installations.
	// +kubebuilder:validation:Enum=Artifact;Object
	// +kubebuilder:default=Artifact
	// +optional
	Provenance string `json:"provenance,omitempty"`
}

// SourceReference names a Flux source that carries a catalog.
type SourceReference struct {
	// Kind of the source.
	// +kubebuilder:validation:Enum=OCIRepository;GitRepository;Bucket;ExternalArtifact
	// +kubebuilder:default=OCIRepository
	// +optional
	Kind string `json:"kind,omitempty"`

	// Name of the source.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`

	// Namespace of the source, by default that of the CatalogSelection. Another one is refused
	// when the controller runs with --no-cross-namespace-refs.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Path of the directory inside the artifact that holds the catalog, by default its root.
	// Relative, with slashes, without "." and ".." elements.
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self == '' || (!self.startsWith('/') && self.split('/').all(e, e != '' && e != '.' && e != '..') && !self.contains('\\\\'))",message="must be a clean relative path, such as deploy/catalog"
	// +optional
	Path string `json:"path,omitempty"`

	// Format of the catalog. Applications: applications/<dir>/application.yaml.
	// Auto: found out by the content.
	// +kubebuilder:validation:Enum=Auto;Applications
	// +kubebuilder:default=Auto
	// +optional
	Format string `json:"format,omitempty"`
}

// Formats of catalogs.
const (
	// FormatAuto finds the format out.
	FormatAuto = "Auto"
	// FormatApplications is applications/<dir>/application.yaml with a metadata.yaml beside it.
	FormatApplications = "Applications"
)

// Limit narrows a selection. All members that are set must hold.
type Limit struct {
	// MetadataSelector selects by the metadata.yaml beside an application.
	// +optional
	MetadataSelector *MetadataSelector `json:"metadataSelector,omitempty"`

	// NameSelector lists the names of applications (metadata.name), one of which must match.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	NameSelector []string `json:"nameSelector,omitempty"`

	// CatalogRefs lists names of catalogs/<name> in the sources, one of which must list the
	// application.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	CatalogRefs []string `json:"catalogRefs,omitempty"`

	// Expression in the Common Expression Language over the variable app, which must be true:
	// app.name, app.kind, app.group, app.tier, app.labels, app.annotations, app.metadata,
	// app.versions, app.latestVersion, app.deprecated, app.source and app.spec. semver("1.2.3")
	// makes versions comparable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Expression string `json:"expression,omitempty"`
}

// MetadataSelector selects by the metadata.yaml beside an application.
type MetadataSelector struct {
	// TierRefs lists tiers, one of which must be the application's. Case matters.
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

// VersionRule says which versions of applications stay.
// +kubebuilder:validation:XValidation:rule="has(self.constraint) || has(self.latest)",message="constraint or latest is needed"
type VersionRule struct {
	// Names of the applications; absent: all that have versions.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	Names []string `json:"names,omitempty"`

	// Constraint is a range of semantic versions, such as ">=2.13.0 <3.0.0". A leading v is
	// accepted; pre-releases match only where the constraint names one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Constraint string `json:"constraint,omitempty"`

	// Latest keeps that many of the highest versions that the constraint lets through.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Latest int32 `json:"latest,omitempty"`
}

// Mirror replaces a prefix of addresses.
type Mirror struct {
	// From is the prefix to replace: a host, with or without a path, such as
	// quay.io/kubermatic-mirror. It matches whole elements of a path, with any scheme.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="!self.contains('://') && !self.startsWith('/') && !self.endsWith('/') && !self.matches('\\\\s')",message="must be host[:port][/path], without scheme, outer slashes and spaces"
	// +required
	From string `json:"from"`

	// To is put in its place.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="!self.contains('://') && !self.startsWith('/') && !self.endsWith('/') && !self.matches('\\\\s')",message="must be host[:port][/path], without scheme, outer slashes and spaces"
	// +required
	To string `json:"to"`
}

// ValuesRule merges values into the default values of applications. Mappings are merged, lists
// and everything else are replaced.
// +kubebuilder:validation:XValidation:rule="has(self.defaults) || has(self.overrides)",message="defaults or overrides is needed"
type ValuesRule struct {
	// Names of the applications.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +required
	Names []string `json:"names"`

	// Defaults fill what the catalog does not set.
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Defaults *apiextensionsv1.JSON `json:"defaults,omitempty"`

	// Overrides win over what the catalog sets.
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Overrides *apiextensionsv1.JSON `json:"overrides,omitempty"`
}

// Values of provenance.
const (
	// ProvenanceArtifact records digests in the artifact's metadata only.
	ProvenanceArtifact = "Artifact"
	// ProvenanceObject also annotates every object with the digest of its source.
	ProvenanceObject = "Object"
)

// CommonMetadata is metadata that every object of the artifact gets.
type CommonMetadata struct {
	// Labels to add. The keys of Winnow, of Flux's kustomize-controller and of KKP's deletion
	// protection are refused.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !(k in ['app.kubernetes.io/managed-by', 'apps.kubermatic.k8c.io/managed-by', 'applicationcatalog.k8c.io/managed-by']) && !k.startsWith('catalog.winnow.dev/') && !k.startsWith('kustomize.toolkit.fluxcd.io/'))",message="app.kubernetes.io/managed-by, apps.kubermatic.k8c.io/managed-by, applicationcatalog.k8c.io/managed-by, catalog.winnow.dev/* and kustomize.toolkit.fluxcd.io/* cannot be set here"
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations to add. The keys of Winnow and of Flux's kustomize-controller are refused.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('catalog.winnow.dev/') && !k.startsWith('kustomize.toolkit.fluxcd.io/'))",message="catalog.winnow.dev/* and kustomize.toolkit.fluxcd.io/* cannot be set here"
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

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

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=catsel,categories=all;fluxcd
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
// +kubebuilder:printcolumn:name="Selected",type="integer",JSONPath=".status.summary.selected"
// +kubebuilder:printcolumn:name="Revision",type="string",JSONPath=".status.artifact.revision",priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="metadata.name must have at most 63 characters, because it becomes the value of a label"

// CatalogSelection picks applications out of catalogs that Flux pulled and publishes them as an
// ExternalArtifact of the same name, for a Flux Kustomization to apply.
type CatalogSelection struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// +required
	Spec CatalogSelectionSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status CatalogSelectionStatus `json:"status,omitzero"`
}

// CatalogSelectionList is a list of CatalogSelections.
// +kubebuilder:object:root=true
type CatalogSelectionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []CatalogSelection `json:"items"`
}

// GetConditions returns the conditions of the status.
func (in *CatalogSelection) GetConditions() []metav1.Condition {
	return in.Status.Conditions
}

// SetConditions replaces the conditions of the status.
func (in *CatalogSelection) SetConditions(conditions []metav1.Condition) {
	in.Status.Conditions = conditions
}

// GetRequeueAfter returns the interval after which the selection is reconciled again.
func (in *CatalogSelection) GetRequeueAfter() time.Duration {
	return in.Spec.Interval.Duration
}
