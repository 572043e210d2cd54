// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

// VersionRule narrows the versions of applications.
// +kubebuilder:validation:XValidation:rule="has(self.constraint) || has(self.latest) || has(self.channels) || has(self.defaultChannel) || (has(self.deprecated) && self.deprecated == 'Drop')",message="constraint, latest, channels, deprecated: Drop or defaultChannel is needed"
type VersionRule struct {
	// Names of the applications; absent: all applications with versions.
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

	// Channels in the metadata.yaml of the application. One of them must have the version. A package of operators
	// keeps only these channels.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	// +optional
	Channels []string `json:"channels,omitempty"`

	// Deprecated is what happens to the versions that the metadata.yaml of the application deprecates, and to the
	// deprecated channels of a package of operators. Drop leaves them out, Keep does not. Absent: Keep.
	// +kubebuilder:validation:Enum=Keep;Drop
	// +optional
	Deprecated string `json:"deprecated,omitempty"`

	// Latest is how many of the highest versions stay, among the versions that satisfy the other members; for a package of
	// operators, in each channel.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Latest int32 `json:"latest,omitempty"`

	// DefaultChannel becomes the default channel of packages of operators. It is needed if no version of the default
	// channel of the catalog stays. If several rules for a package have it, the last one counts.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	DefaultChannel string `json:"defaultChannel,omitempty"`

	// Strict refuses a package of operators if other versions would stay than those that match. Without it, if a channel
	// would have several heads, or a version no upgrade to the head, Winnow adds versions between them, or drops versions.
	// +optional
	Strict bool `json:"strict,omitempty"`
}

// Values of the deprecated of a VersionRule. There is no default in the schema: records of older releases, whose specs
// lack it, would differ from every spec.
const (
	// DeprecatedKeep keeps deprecated versions.
	DeprecatedKeep = "Keep"
	// DeprecatedDrop leaves them out.
	DeprecatedDrop = "Drop"
)

// Platform lists the versions of the platform that the applications have to run on, and what installs instances there.
// +kubebuilder:validation:XValidation:rule="has(self.kubernetes) || has(self.kkp) || has(self.backends)",message="kubernetes, kkp or backends is needed"
type Platform struct {
	// Kubernetes are versions of Kubernetes, such as 1.32.9. A leading v is accepted, pre-releases are not.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern="^v?(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(\\+[0-9A-Za-z.-]+)?$"
	// +listType=set
	// +optional
	Kubernetes []string `json:"kubernetes,omitempty"`

	// KKP are versions of the Kubermatic Kubernetes Platform, such as 2.29.1, in the same form.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern="^v?(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(\\+[0-9A-Za-z.-]+)?$"
	// +listType=set
	// +optional
	KKP []string `json:"kkp,omitempty"`

	// Backends that the clusters have. An instance with another backend is left out. Absent: no instance is left out.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=6
	// +kubebuilder:validation:items:Enum=Helm;ApplicationInstallation;Application;Terraform;ClusterExtension;Subscription
	// +listType=set
	// +optional
	Backends []string `json:"backends,omitempty"`
}

// ValuesRule merges values into the default values of applications. Mappings are merged, lists
// and everything else are replaced.
// +kubebuilder:validation:XValidation:rule="has(self.defaults) || has(self.overrides) || has(self.instanceOverrides)",message="defaults, overrides or instanceOverrides is needed"
type ValuesRule struct {
	// Names of the applications.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +required
	Names []string `json:"names"`

	// Defaults apply where the catalog sets no value.
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Defaults *apiextensionsv1.JSON `json:"defaults,omitempty"`

	// Overrides replace values of the catalog.
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Overrides *apiextensionsv1.JSON `json:"overrides,omitempty"`

	// InstanceOverrides replace values of every instance of the applications, and no instance can change them. They do not
	// change the definitions.
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	InstanceOverrides *apiextensionsv1.JSON `json:"instanceOverrides,omitempty"`
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
	// Labels to add. app.kubernetes.io/managed-by and reserved keys are refused, in any letter case: keys of
	// kustomize, of Flux's kustomize-controller and of Winnow, keys that mark KKP's own definitions, and the bypass.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'app.kubernetes.io/managed-by' && !k.matches('(?i)^((([^/]*[.])?config[.](kubernetes|k8s)[.]io|kustomize[.]toolkit[.]fluxcd[.]io|catalog[.]winnow[.]dev)/|(apps[.]kubermatic[.]k8c[.]io/managed-by|applicationcatalog[.]k8c[.]io/managed-by|apps[.]k8c[.]io/(application-bypass|managed-by-external-manager))$)'))",message="app.kubernetes.io/managed-by and the reserved keys of kustomize, Flux, Winnow and KKP cannot be set here"
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations to add. The reserved keys that labels cannot have are refused as well.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('(?i)^((([^/]*[.])?config[.](kubernetes|k8s)[.]io|kustomize[.]toolkit[.]fluxcd[.]io|catalog[.]winnow[.]dev)/|(apps[.]kubermatic[.]k8c[.]io/managed-by|applicationcatalog[.]k8c[.]io/managed-by|apps[.]k8c[.]io/(application-bypass|managed-by-external-manager))$)'))",message="the reserved keys of kustomize, Flux, Winnow and KKP cannot be set here"
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}
