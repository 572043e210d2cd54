// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"time"

	"github.com/fluxcd/pkg/apis/kustomize"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CatalogSelectionSpec selects the applications of the artifact, and their catalogs.
// +kubebuilder:validation:XValidation:rule="!has(self.prune) || !self.prune || has(self.deletionPolicy) && self.deletionPolicy == 'Delete'",message="prune was renamed: write deletionPolicy: Delete instead of prune: true",fieldPath=".prune"
// +kubebuilder:validation:XValidation:rule="(has(self.definitions) ? self.definitions : 'Publish') == (has(oldSelf.definitions) ? oldSelf.definitions : 'Publish')",message="definitions cannot be changed: make a second CatalogSelection"
type CatalogSelectionSpec struct {
	// Interval at which the selection is reconciled without a change, and at which sources that are not
	// ready are checked again. It is jittered. At least 1s. By default 10m.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="must be at least 1s"
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +kubebuilder:default="10m"
	// +optional
	Interval metav1.Duration `json:"interval,omitzero"`

	// Suspend stops the reconciliation; the last artifact stays served.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// Sources are the catalogs, in order of precedence: if several sources have an application, it is taken from the first
	// of them. See also limit and merge of a source.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.kind == b.kind && a.name == b.name && (has(a.__namespace__) ? a.__namespace__ : '') == (has(b.__namespace__) ? b.__namespace__ : '') && (has(a.path) ? a.path : '') == (has(b.path) ? b.path : '')))",message="each source may be listed once"
	// +kubebuilder:validation:XValidation:rule="self.size() == 0 || !has(self[0].merge)",message="the first source cannot be merged: no source is listed before it"
	// +listType=atomic
	// +required
	Sources []SourceReference `json:"sources"`

	// Limit narrows the selection; every member that is set must hold. Absent: everything.
	// +optional
	Limit *Limit `json:"limit,omitempty"`

	// Exclude lists names of applications that are left out, even if limit selects them.
	// +kubebuilder:validation:MaxItems=5000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	Exclude []string `json:"exclude,omitempty"`

	// Versions narrow the entries of an application's spec.versions. An application has to pass every rule
	// that names it; without any version left, it is not selected.
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	// +optional
	Versions []VersionRule `json:"versions,omitempty"`

	// Platform lists what the clusters have: versions of Kubernetes and KKP, and backends. A version of an application is
	// left out if none of the listed versions of a component meets its requirements in the metadata.yaml, and an instance
	// if it has another backend. Platform applies before versions. A published version that it leaves out is held, even if
	// an edit of platform is the cause.
	// +optional
	Platform *Platform `json:"platform,omitempty"`

	// Mirrors rewrite the addresses of charts, Git repositories and images; of several that
	// match, the one with the longest from applies.
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

	// Definitions: with Publish, the artifact has the definitions of the selected applications. With Omit, for clusters
	// without the platform that reads definitions, it has instances only. The field cannot be changed later: the objects
	// of a running cluster would leave the artifact all at once. Absent: Publish.
	// +kubebuilder:validation:Enum=Publish;Omit
	// +optional
	Definitions string `json:"definitions,omitempty"`

	// Instances are applications that the selection installs, by the name of the instance. Safeguards decide about
	// upgrades, and about versions that the catalogs no longer have.
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.size() <= 63 && name.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$'))",message="the name of an instance must be a DNS label: at most 63 lower case letters, digits and -"
	// +optional
	Instances map[string]Instance `json:"instances,omitempty"`

	// OmitFields are fields of an application's spec that the artifact leaves out, so that it does not
	// overwrite the values that admins of a cluster set there. A dot separates the keys of nested mappings.
	// Absent: default, enforced and selector of KKP's ApplicationDefinitions. An empty list omits nothing.
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

	// Patches change the objects of the artifact, using kustomize, as in a Flux Kustomization: a strategic merge patch,
	// or a JSON 6902 patch with a target. Each must match an object.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Patches []kustomize.Patch `json:"patches,omitempty"`

	// DeletionPolicy applies to objects that leave the artifact. Orphan: they stay in the cluster,
	// because every object has the annotation kustomize.toolkit.fluxcd.io/prune: disabled. Delete: Flux
	// deletes them where the Kustomization prunes. Absent: Orphan.
	// +kubebuilder:validation:Enum=Orphan;Delete
	// +optional
	DeletionPolicy string `json:"deletionPolicy,omitempty"`

	// Prune is the former name of deletionPolicy. Deprecated: the API server refuses prune: true in a spec that is new or
	// edited. In a spec that was stored before the field was renamed, without deletionPolicy, it still means
	// deletionPolicy: Delete.
	// +optional
	Prune bool `json:"prune,omitempty"`

	// Provenance sets where the sources' digests are recorded. Artifact: in the artifact's
	// metadata only. Object: also as an annotation of every object, which then changes with
	// every revision of its source; in KKP any change of a definition re-queues all its
	// installations. By default Artifact.
	// +kubebuilder:validation:Enum=Artifact;Object
	// +kubebuilder:default=Artifact
	// +optional
	Provenance string `json:"provenance,omitempty"`

	// Safeguards decide which changes are held instead of published, such as the removal of an application or a version.
	// +kubebuilder:default={}
	// +optional
	Safeguards Safeguards `json:"safeguards,omitzero"`

	// Cluster configures when the artifact is served, and how live definitions of this cluster are treated if a
	// Kustomization without a kubeConfig uses the artifact.
	// +kubebuilder:default={}
	// +optional
	Cluster Cluster `json:"cluster,omitzero"`

	// ServiceAccountName is an account in the selection's namespace that the controller impersonates to
	// mark live definitions, so that a tenant cannot mark definitions that it may not change. Absent: the
	// account of --default-service-account, or else the controller's own.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// Push pushes the rendered artifact to an OCI registry as well, for clusters without Winnow.
	// +optional
	Push *Push `json:"push,omitempty"`
}

// SourceReference names a Flux source that carries a catalog.
// +kubebuilder:validation:XValidation:rule="!has(self.requireVerified) || !self.requireVerified || self.kind in ['OCIRepository', 'GitRepository']",message="requireVerified needs an OCIRepository or a GitRepository: Flux verifies no other kind"
type SourceReference struct {
	// Kind of the source. By default OCIRepository.
	// +kubebuilder:validation:Enum=OCIRepository;GitRepository;Bucket;ExternalArtifact
	// +kubebuilder:default=OCIRepository
	// +optional
	Kind string `json:"kind,omitempty"`

	// Name of the source.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`

	// Namespace of the source, by default the CatalogSelection's namespace. Another one is refused
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

	// Format of the catalog. Applications: applications/<dir>/application.yaml. Definitions: YAML files of
	// ApplicationDefinitions, one or several a file, in any directory. FileBased: the packages of a file-based
	// catalog of OLM. KRMFunctions: catalogs of functions of kustomize (KEP-2906), of the kind Catalog,
	// KRMFunctionCatalog or KRMFunctionDefinition.
	// Auto: for an OCIRepository, the manifest in the registry decides; for other kinds, and for artifacts
	// of flux push artifact, the content. By default Auto.
	// +kubebuilder:validation:Enum=Auto;Applications;Definitions;FileBased;KRMFunctions
	// +kubebuilder:default=Auto
	// +optional
	Format string `json:"format,omitempty"`

	// Include lists patterns, such as **/cozyrds/*.yaml, of the files below path that belong to the catalog, for a catalog
	// that shares its directories with other files. Absent: all files. * and ? match within a directory, ** matches any
	// number of directories, and [a-z] one character.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	// +optional
	Include []string `json:"include,omitempty"`

	// RequireVerified publishes a revision of the source only after Flux has verified the signature of exactly this
	// revision, using spec.verify of the source. Only OCIRepository and GitRepository have spec.verify. The command
	// line does not check signatures.
	// +kubebuilder:default=false
	// +optional
	RequireVerified bool `json:"requireVerified,omitempty"`

	// Limit narrows what this source contributes: an application that does not match it counts as missing in this source.
	// Its catalogRefs and its expression see this source alone. Absent: everything.
	// +optional
	Limit *Limit `json:"limit,omitempty"`

	// Merge: with Versions, this source appends the versions that earlier sources lack to the spec.versions of their
	// applications. All other fields stay as the first source has them. For KKP's ApplicationDefinitions only. Absent:
	// applications of earlier sources do not change.
	// +kubebuilder:validation:Enum=Versions
	// +optional
	Merge string `json:"merge,omitempty"`
}

// MergeVersions appends the versions of a source that earlier ones lack.
const MergeVersions = "Versions"

// Formats of catalogs.
const (
	// FormatAuto takes the format from the manifest or the content.
	FormatAuto = "Auto"
	// FormatApplications is applications/<dir>/application.yaml with a metadata.yaml beside it.
	FormatApplications = "Applications"
	// FormatDefinitions is YAML files of ApplicationDefinitions, in any directory.
	FormatDefinitions = "Definitions"
	// FormatFileBased is a file-based catalog of OLM.
	FormatFileBased = "FileBased"
	// FormatKRMFunctions is catalogs of functions of kustomize.
	FormatKRMFunctions = "KRMFunctions"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=catsel,categories=all;fluxcd
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Applied",type="string",JSONPath=".status.conditions[?(@.type==\"Applied\")].status"
// +kubebuilder:printcolumn:name="Held",type="string",JSONPath=".status.conditions[?(@.type==\"Held\")].status"
// +kubebuilder:printcolumn:name="Pushed",type="string",JSONPath=".status.conditions[?(@.type==\"Pushed\")].status"
// +kubebuilder:printcolumn:name="Suspended",type="boolean",JSONPath=".spec.suspend",priority=1
// +kubebuilder:printcolumn:name="Source",type="string",JSONPath=".status.sourceRevision"
// +kubebuilder:printcolumn:name="Selected",type="integer",JSONPath=".status.summary.selected"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Revision",type="string",JSONPath=".status.artifact.revision",priority=1
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
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

// GetDeletionPolicy returns what happens to objects that leave the artifact.
func (in *CatalogSelectionSpec) GetDeletionPolicy() string {
	switch {
	case in.DeletionPolicy != "":
		return in.DeletionPolicy
	case in.Prune:
		return DeletionPolicyDelete
	}
	return DeletionPolicyOrphan
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
