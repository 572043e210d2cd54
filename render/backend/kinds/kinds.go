// SPDX-License-Identifier: Apache-2.0

// Package kinds names the kinds of the objects that backends make, and the API groups of the definitions that they
// read. It must not know the fields of an object.
package kinds

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// API groups of the definitions of the platforms' releases. Definitions of Cozystack are known by their fields, as its
// proposals have another group.
const (
	KKPGroup       = "apps.kubermatic.k8c.io"
	CozystackGroup = "cozystack.io"
)

// CozystackApps is the API group of the instances of Cozystack, a kind for each definition.
const CozystackApps = "apps.cozystack.io"

// IsMain reports whether an object of a kind installs an instance; the other objects of instances are its sources and values.
func IsMain(kind schema.GroupKind) bool {
	main := []schema.GroupVersionKind{HelmRelease, ApplicationInstallation, Terraform, ClusterExtension, Subscription}
	isKind := func(of schema.GroupVersionKind) bool { return of.GroupKind() == kind }
	return kind.Group == CozystackApps || slices.ContainsFunc(main, isKind)
}

// Kinds of objects that backends make.
var (
	ConfigMap               = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	Namespace               = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	HelmRelease             = schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"}
	HelmRepository          = schema.GroupVersionKind{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "HelmRepository"}
	OCIRepository           = schema.GroupVersionKind{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "OCIRepository"}
	ApplicationInstallation = schema.GroupVersionKind{Group: KKPGroup, Version: "v1", Kind: "ApplicationInstallation"}
	Terraform               = schema.GroupVersionKind{Group: "infra.contrib.fluxcd.io", Version: "v1alpha2", Kind: "Terraform"}
	ClusterExtension        = schema.GroupVersionKind{Group: "olm.operatorframework.io", Version: "v1", Kind: "ClusterExtension"}
	Subscription            = schema.GroupVersionKind{Group: "operators.coreos.com", Version: "v1alpha1", Kind: "Subscription"}
	OperatorGroup           = schema.GroupVersionKind{Group: "operators.coreos.com", Version: "v1", Kind: "OperatorGroup"}
)

// Operators are the kinds of the objects that OLM installs packages from.
func Operators() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{ClusterExtension, Subscription, OperatorGroup}
}

// ChartNameChangeStrategy is the field of a HelmRelease that the newest release of helm-controller is needed for.
const ChartNameChangeStrategy = "chartNameChangeStrategy"

// RequiredRelease returns the end of a message on a field that the API server, or a CustomResourceDefinition, does not have: the
// release that has it; empty for other messages.
func RequiredRelease(message string) string {
	if !strings.Contains(message, "."+ChartNameChangeStrategy) {
		return ""
	}
	return "; instances of the backend Helm need Flux 2.9 (helm-controller 1.6) or newer"
}
