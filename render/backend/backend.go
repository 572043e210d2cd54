// SPDX-License-Identifier: Apache-2.0

// Package backend is the contract between the backends, which install applications, and their callers: the instance of
// an application, the objects that a backend makes of it, and the instance that an object belongs to. The backends are in
// the packages below, and package backends lists them.
//
// It is pure: the same instance makes the same bytes. It must not know how an application and its version
// were selected, what the objects are published with (labels, annotations, protection against pruning), nor
// what has been published before. Definitions and values are untrusted: every error names the field.
package backend

// Types of the backends, as a spec names them.
const (
	// Helm uses Flux's helm-controller.
	Helm = "Helm"
	// ApplicationInstallation is the backend of user clusters of KKP.
	ApplicationInstallation = "ApplicationInstallation"
	// CozystackApplication uses Cozystack's API server.
	CozystackApplication = "Application"
	// Terraform uses the tofu-controller.
	Terraform = "Terraform"
	// ClusterExtension installs packages with OLM v1.
	ClusterExtension = "ClusterExtension"
	// Subscription installs packages with OLM v0.
	Subscription = "Subscription"
)

// Note is something about a valid instance that does not work everywhere, or will not for long.
type Note struct {
	// Field of the instance that it is about.
	Field string `json:"field"`
	// Message describes what does not work, and what to do.
	Message string `json:"message"`
}
