// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Instance is an application of the catalogs that the selection installs.
type Instance struct {
	// Application is the metadata.name of a selected application; by default the name of the instance.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Application string `json:"application,omitempty"`

	// Namespace in which the application runs; by default what the definition says. The objects that install
	// it are in the namespace of the selection.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern="^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Version of the application: one of its spec.versions, or a range of semantic versions, such as "~1.18". The
	// highest version of a range is installed. By default the spec.defaultVersion of the definition, or else the
	// highest of spec.versions, as in KKP; definitions without versions have none.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Version string `json:"version,omitempty"`

	// Channels from which a package of OLM is installed and upgraded. A Subscription has one, by default the default
	// channel of the package. A ClusterExtension has all channels by default.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	Channels []string `json:"channels,omitempty"`

	// Catalog of OLM in the cluster from which a package is installed; by default the catalog of spec.push, or else any
	// ClusterCatalog. A Subscription needs a CatalogSource.
	// +optional
	Catalog *CatalogReference `json:"catalog,omitempty"`

	// Backend that installs it: Helm (Flux's helm-controller), ApplicationInstallation (KKP), Application
	// (Cozystack), Terraform (tofu-controller), or for packages of OLM ClusterExtension (v1) or
	// Subscription (v0). By default Helm for the definitions of KKP, and Application for Cozystack's
	// definitions; packages have no default.
	// +kubebuilder:validation:Enum=Helm;ApplicationInstallation;Application;Terraform;ClusterExtension;Subscription
	// +optional
	Backend string `json:"backend,omitempty"`

	// Values of the application. They are merged over the default values of the definition and over
	// valuesFrom. null deletes a value, as in Helm.
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Values *apiextensionsv1.JSON `json:"values,omitempty"`

	// ValuesFrom are values in ConfigMaps and Secrets in the namespace of the selection, the later over the
	// earlier. Winnow passes the references on, and does not read them.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	ValuesFrom []ValuesReference `json:"valuesFrom,omitempty"`

	// DependsOn are names of instances of this selection, with the same backend, that are installed first. "@system"
	// stands for the instances of all system applications, which have the label apps.kubermatic.k8c.io/type.
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	// +optional
	DependsOn []string `json:"dependsOn,omitempty"`

	// ReleaseName of Helm; by default the name of the HelmRelease.
	// +kubebuilder:validation:MaxLength=53
	// +optional
	ReleaseName string `json:"releaseName,omitempty"`

	// StorageNamespace is where Helm stores the release; by default the namespace of the selection.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern="^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
	// +optional
	StorageNamespace string `json:"storageNamespace,omitempty"`

	// CreateNamespace adds the Namespace to the artifact; by default what the definition says, or else true. Flux never
	// prunes it.
	// +optional
	CreateNamespace *bool `json:"createNamespace,omitempty"`

	// CreateOperatorGroup adds an OperatorGroup for the namespace of a Subscription to the artifact; by default true. OLM
	// allows one OperatorGroup in a namespace.
	// +optional
	CreateOperatorGroup *bool `json:"createOperatorGroup,omitempty"`

	// ServiceAccountName is an account in the namespace of the selection that the controller of the backend
	// impersonates.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// Interval at which the controller of the backend reconciles the instance; by default 10m, and 5m for Cozystack's
	// definitions with the backend Helm. At least 1s.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="must be at least 1s"
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`

	// Timeout of an installation or an upgrade; by default what the definition says.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// Deploy states how the instance is installed and upgraded; by default what the definition says.
	// +optional
	Deploy *Deploy `json:"deploy,omitempty"`

	// Suspend stops the controller of the backend from reconciling the instance.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// DestroyResources: the deletion of a Terraform object destroys what it made, if the definition has this setting, too.
	// +optional
	DestroyResources bool `json:"destroyResources,omitempty"`
}

// Deploy states how an instance is installed and upgraded. How long that may take is the timeout of the instance.
type Deploy struct {
	// Wait until what is installed is ready. An atomic release always waits.
	// +optional
	Wait *bool `json:"wait,omitempty"`

	// Atomic rolls back an upgrade that fails, and uninstalls an installation that fails.
	// +optional
	Atomic *bool `json:"atomic,omitempty"`

	// Retries of an installation or an upgrade that fails: of an atomic release, or of a Terraform object.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Retries *int32 `json:"retries,omitempty"`
}

// CatalogReference names a catalog of OLM in the cluster.
type CatalogReference struct {
	// Namespace of a CatalogSource; a ClusterCatalog has none.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern="^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Name of the ClusterCatalog or CatalogSource.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
}

// ValuesReference names values in a ConfigMap or a Secret, as in a HelmRelease.
type ValuesReference struct {
	// Kind of the object.
	// +kubebuilder:validation:Enum=ConfigMap;Secret
	// +required
	Kind string `json:"kind"`

	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`

	// ValuesKey is the key of the values; by default values.yaml.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern="^[\\-._a-zA-Z0-9]+$"
	// +optional
	ValuesKey string `json:"valuesKey,omitempty"`

	// TargetPath is the path, in the dot notation of Helm, at which a single value is set; for Terraform the
	// name of a variable.
	// +kubebuilder:validation:MaxLength=250
	// +kubebuilder:validation:Pattern="^([a-zA-Z0-9_\\-.\\\\\\/]|\\[[0-9]{1,5}\\])+$"
	// +optional
	TargetPath string `json:"targetPath,omitempty"`

	// Literal takes the value at targetPath as a text, without the syntax of Helm's --set.
	// +optional
	Literal bool `json:"literal,omitempty"`

	// Optional tolerates a missing object.
	// +optional
	Optional bool `json:"optional,omitempty"`
}

// Values of spec.definitions. There is no default in the schema: records of older releases, whose specs lack it, would
// differ from every spec.
const (
	// DefinitionsPublish has the definitions of the selected applications in the artifact.
	DefinitionsPublish = "Publish"
	// DefinitionsOmit leaves them out: the artifact has instances only.
	DefinitionsOmit = "Omit"
)

// DependsOnSystem stands, in the dependsOn of an instance, for the instances of all system applications.
const DependsOnSystem = "@system"
