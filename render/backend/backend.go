// SPDX-License-Identifier: Apache-2.0

package backend

import "k8s.io/apimachinery/pkg/runtime/schema"

// Backend translates instances into objects of certain kinds.
type Backend interface {
	// Type is the name of the backend in a spec.
	Type() string
	// Targets are the kinds, besides those of the core group, that the cluster must serve. An empty Kind
	// stands for the kinds that definitions name.
	Targets() []schema.GroupVersionKind
	// Identity states which live object, and which release of Helm, the instance is.
	Identity(instance Instance) (Identity, error)
	// Build returns the objects of the instance, sorted by kind, namespace and name. Exactly one of them is
	// Main. The error joins all problems, each of which is an *Error.
	Build(instance Instance) ([]Object, error)
}

// Types of the backends, as a spec names them.
const (
	// Helm is that of Flux's helm-controller.
	Helm = "Helm"
	// ApplicationInstallation is that of user clusters of KKP.
	ApplicationInstallation = "ApplicationInstallation"
	// CozystackApplication is that of Cozystack's API server.
	CozystackApplication = "Application"
	// Terraform is that of the tofu-controller.
	Terraform = "Terraform"
	// ClusterExtension is that of packages in OLM v1.
	ClusterExtension = "ClusterExtension"
	// Subscription is that of packages in OLM v0.
	Subscription = "Subscription"
)

// Note is something about a valid instance that does not work everywhere, or will not for long.
type Note struct {
	// Field of the instance that it is about.
	Field string `json:"field"`
	// Message describes what does not work, and what to do.
	Message string `json:"message"`
}
