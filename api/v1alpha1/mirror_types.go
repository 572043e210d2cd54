// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "github.com/fluxcd/pkg/apis/meta"

// Mirror replaces a prefix of addresses.
// +kubebuilder:validation:XValidation:rule="!(self.to.startsWith('https://') && has(self.helm) && has(self.helm.plainHTTP) && self.helm.plainHTTP)",message="helm.plainHTTP is for oci:// addresses"
type Mirror struct {
	// From is the prefix to replace: a host, with or without a path, such as
	// quay.io/kubermatic-mirror. It matches whole elements of a path, with any scheme.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="!self.contains('://') && !self.startsWith('/') && !self.endsWith('/') && !self.matches('\\\\s')",message="must be host[:port][/path], without scheme, outer slashes and spaces"
	// +required
	From string `json:"from"`

	// To replaces the prefix. If it begins with oci:// or https://, it also replaces the scheme of charts; https:// also
	// replaces the scheme of Git repositories. In default values, it replaces the prefix without its scheme.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^(oci|https)://') ? self.matches('^(oci://[^/@?#\\\\s]+(/[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*)*|https://[^/@?#\\\\s]+(/[^/@?#\\\\s]+)*)$') : !self.contains('://') && !self.startsWith('/') && !self.endsWith('/') && !self.matches('\\\\s')",message="must be [oci://|https://]host[:port][/path], without other schemes, outer slashes and spaces; the path of oci:// is in lower case"
	// +required
	To string `json:"to"`

	// Helm is how KKP fetches charts from the mirror. It replaces credentials, insecure and plainHTTP of
	// every version whose chart the mirror rewrites: of these three, what is not set here is removed.
	// Absent: the versions keep theirs.
	// +optional
	Helm *MirrorHelm `json:"helm,omitempty"`

	// Flux is how Flux fetches the charts of instances from the mirror: Secrets in the namespace of the
	// selection, in the form that Flux's sources read.
	// +optional
	Flux *MirrorFlux `json:"flux,omitempty"`
}

// MirrorFlux has the fields of a HelmRepository or an OCIRepository that belong to the server.
type MirrorFlux struct {
	// SecretRef names a Secret with credentials.
	// +optional
	SecretRef *meta.LocalObjectReference `json:"secretRef,omitempty"`

	// CertSecretRef names a Secret with a certificate authority or a client certificate.
	// +optional
	CertSecretRef *meta.LocalObjectReference `json:"certSecretRef,omitempty"`

	// Provider of credentials for oci:// addresses. By default generic.
	// +kubebuilder:validation:Enum=generic;aws;azure;gcp
	// +optional
	Provider string `json:"provider,omitempty"`
}

// MirrorHelm is the part of a Helm source of KKP that belongs to the server and not to the chart.
// +kubebuilder:validation:XValidation:rule="!(has(self.insecure) && self.insecure && has(self.plainHTTP) && self.plainHTTP)",message="insecure is for TLS, which plainHTTP switches off: leave one of them out"
type MirrorHelm struct {
	// Credentials name keys of Secrets in the namespace of KKP.
	// +optional
	Credentials *HelmCredentials `json:"credentials,omitempty"`

	// Insecure disables the verification of the server's certificate.
	// +optional
	Insecure bool `json:"insecure,omitempty"`

	// PlainHTTP uses HTTP for oci:// addresses.
	// +optional
	PlainHTTP bool `json:"plainHTTP,omitempty"`
}

// HelmCredentials names the Secrets with the credentials of a Helm source of KKP. It has no values.
// +kubebuilder:validation:XValidation:rule="has(self.registryConfigFile) ? !has(self.username) && !has(self.password) : has(self.username) && has(self.password)",message="either registryConfigFile, or username and password"
type HelmCredentials struct {
	// Username for basic authentication.
	// +optional
	Username *SecretKey `json:"username,omitempty"`

	// Password for basic authentication.
	// +optional
	Password *SecretKey `json:"password,omitempty"`

	// RegistryConfigFile is a file like ~/.docker/config.json.
	// +optional
	RegistryConfigFile *SecretKey `json:"registryConfigFile,omitempty"`
}

// SecretKey is the key of a Secret.
type SecretKey struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`
	// +required
	Name string `json:"name"`

	// Key in the Secret's data.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	// +required
	Key string `json:"key"`
}
