// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
)

// Instance is an application that a selection installs.
type Instance struct {
	// Name of the instance: a DNS label.
	Name string
	// Namespace and name of the selection: only instances of one selection share objects, because Flux prunes these
	// with the selection.
	Namespace, Selection string
	// Application as it is published: selection, transformations and mirrors have changed its document.
	Application *catalog.Application
	// Definition is the spec of that document, as Application.Spec returns it; nil for an application without one.
	Definition map[string]any
	// Version is the entry of spec.versions that is installed, empty for definitions without versions; of a package the
	// name of its bundle.
	Version string
	// Requested is the version or range in the spec, empty for none, and Channels are those in it.
	Requested string
	Channels  []string
	// Package is the package of OLM that the application is, cut to the selected versions, and Bundle the one of Version;
	// nil for definitions.
	Package *filebased.Package
	Bundle  *filebased.Bundle
	// Catalog in the cluster that has the package.
	Catalog v1alpha1.CatalogReference
	// Served is the catalog of the selection itself, for instances that name none.
	Served *ServedCatalog
	// Values of the instance, with what wins over them merged into them by MergeValues. They have
	// JSON's types, with int64 and float64 for numbers.
	Values map[string]any
	// ValuesFrom are merged under Values, the later over the earlier.
	ValuesFrom []v1alpha1.ValuesReference
	// DependsOn names the main objects, of the same backend and in the same namespace, that come first.
	DependsOn []string
	// TargetNamespace is where the application runs. Without it that is what the definition says, or the
	// namespace of the selection.
	TargetNamespace string
	// CreateNamespace reports whether the namespace comes with the instance; nil is what the definition says.
	CreateNamespace *bool
	// CreateOperatorGroup reports whether the OperatorGroup comes with the instance; nil is yes.
	CreateOperatorGroup *bool
	// ReleaseName and StorageNamespace of Helm are the name of the main object, and its namespace, without.
	ReleaseName, StorageNamespace string
	// ServiceAccountName is impersonated by the controller that installs the application.
	ServiceAccountName string
	// Interval of reconciliation, and Timeout of an installation; zero is the backend's default, and what
	// the definition says.
	Interval, Timeout time.Duration
	// Deploy states how it is installed and upgraded. What is nil is what the definition says, or the backend's default.
	Deploy v1alpha1.Deploy
	// Suspend stops reconciliation.
	Suspend bool
	// DestroyResources deletes what Terraform made when the instance is deleted, if the definition says so too.
	DestroyResources bool
	// Access states how Flux reaches the source of the chart.
	Access Access
}

// FromServed reports whether the instance is installed from the catalog of the selection, which is of this kind.
func (in Instance) FromServed(kind string) bool {
	return in.Catalog == v1alpha1.CatalogReference{} && in.Served != nil && in.Served.Kind == kind
}

// Access names what a source of Flux needs in the namespace of the selection.
type Access struct {
	// SecretRef and CertSecretRef name Secrets in the form that Flux reads.
	SecretRef, CertSecretRef string
	// Provider is generic, aws, azure or gcp; empty is generic.
	Provider string
}
