// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "github.com/fluxcd/pkg/apis/meta"

// Types of what is pushed.
const (
	// PushArtifact is the rendered artifact.
	PushArtifact = "Artifact"
	// PushCatalogImage is a container image with the packages of operators in the artifact.
	PushCatalogImage = "CatalogImage"
)

// Kinds of the catalog that serves what is pushed.
const (
	// PushClusterCatalog is the catalog of OLM v1.
	PushClusterCatalog = "ClusterCatalog"
	// PushCatalogSource is the catalog of OLM v0.
	PushCatalogSource = "CatalogSource"
)

// Push has the destination of the rendered artifact. The fields about the registry mean the same as in
// an OCIRepository; Secrets and the ServiceAccount are in the selection's namespace.
// +kubebuilder:validation:XValidation:rule="!has(self.catalog) || has(self.type) && self.type == 'CatalogImage'",message="catalog needs type: CatalogImage"
type Push struct {
	// URL of the repository, without a tag: oci://registry.example.com/rendered/kkp.
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern="^oci://[^/@\\s]+(/[a-z0-9]+([._-]+[a-z0-9]+)*)+$"
	// +required
	URL string `json:"url"`

	// Tags to set to the artifact, in order. A tag that does not name an artifact of this selection is not
	// moved. By default latest.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Pattern="^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$"
	// +kubebuilder:default={latest}
	// +listType=set
	// +optional
	Tags []string `json:"tags,omitempty"`

	// Type of what is pushed. Artifact: the whole artifact, for the OCIRepositories of Flux. CatalogImage: the
	// packages of operators in it, as a container image that OLM serves as a catalog. The tags of one type are not
	// moved to the other. By default Artifact.
	// +kubebuilder:validation:Enum=Artifact;CatalogImage
	// +kubebuilder:default=Artifact
	// +optional
	Type string `json:"type,omitempty"`

	// Catalog adds an object to the artifact with which OLM serves the image, by its digest. Instances without a catalog
	// are installed from it.
	// +optional
	Catalog *PushCatalog `json:"catalog,omitempty"`

	// Provider of the credentials: generic takes them from secretRef and serviceAccountName, the
	// others from the cloud that the controller runs in. By default generic.
	// +kubebuilder:validation:Enum=generic;aws;azure;gcp
	// +kubebuilder:default=generic
	// +optional
	Provider string `json:"provider,omitempty"`

	// SecretRef names a Secret of type kubernetes.io/dockerconfigjson.
	// +optional
	SecretRef *meta.LocalObjectReference `json:"secretRef,omitempty"`

	// ServiceAccountName is an account whose imagePullSecrets have credentials.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// CertSecretRef names a Secret with the registry's authority in ca.crt, and with tls.crt and
	// tls.key for a registry that requires a client certificate.
	// +optional
	CertSecretRef *meta.LocalObjectReference `json:"certSecretRef,omitempty"`

	// ProxySecretRef names a Secret with the address of a proxy, and its username and password.
	// +optional
	ProxySecretRef *meta.LocalObjectReference `json:"proxySecretRef,omitempty"`

	// Insecure allows a registry without TLS, or with a certificate that cannot be verified.
	// +optional
	Insecure bool `json:"insecure,omitempty"`
}

// PushCatalog is a catalog of OLM that serves what is pushed.
// +kubebuilder:validation:XValidation:rule="has(self.__namespace__) == (self.kind == 'CatalogSource')",message="a CatalogSource needs a namespace, and a ClusterCatalog has none"
type PushCatalog struct {
	// Kind of the catalog: ClusterCatalog of OLM v1, or CatalogSource of OLM v0.
	// +kubebuilder:validation:Enum=ClusterCatalog;CatalogSource
	// +required
	Kind string `json:"kind"`

	// Namespace of the CatalogSource.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern="^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// PushStatus is the artifact that was pushed last.
type PushStatus struct {
	// URL of the artifact, by the digest of its manifest: oci://<host>/<repository>@<digest>.
	URL string `json:"url"`
	// Revision of the ExternalArtifact that it holds.
	Revision string `json:"revision"`
	// Sources are the revisions that it was rendered from, as in its manifest.
	Sources string `json:"sources"`
	// Tags that were set to it.
	// +listType=atomic
	// +optional
	Tags []string `json:"tags,omitempty"`
}
