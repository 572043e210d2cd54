// SPDX-License-Identifier: Apache-2.0

// Package backends lists the backends, and finds the one that installs an instance. It must not know how any of them
// translates an instance.
package backends

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/cozystack"
	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/backend/helm"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/backend/kkp"
	"github.com/winnow-dev/winnow/render/backend/olm"
	"github.com/winnow-dev/winnow/render/backend/terraform"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/each"
)

// All returns the backends.
func All() []draft.Backend {
	type targets = []schema.GroupVersionKind
	return []draft.Backend{
		{Type: backend.Helm, Targets: targets{kinds.HelmRelease, kinds.HelmRepository, kinds.OCIRepository}, Fill: helm.Fill},
		{Type: backend.ApplicationInstallation, Targets: targets{kinds.ApplicationInstallation}, Fill: kkp.Fill},
		{Type: backend.CozystackApplication, Targets: targets{cozystack.ApplicationVersion.WithKind("")}, Fill: cozystack.Fill},
		{Type: backend.Terraform, Targets: targets{kinds.Terraform}, Fill: terraform.Fill},
		{Type: backend.ClusterExtension, Targets: targets{kinds.ClusterExtension}, Fill: olm.FillExtension},
		{Type: backend.Subscription, Targets: targets{kinds.Subscription, kinds.OperatorGroup}, Fill: olm.FillSubscription},
	}
}

// Named returns the backend of a type, nil if there is none.
func Named(name string) *draft.Backend {
	named, found := each.First(All(), func(b draft.Backend) bool { return b.Type == name })
	if !found {
		return nil
	}
	return &named
}

// Makes reports whether a backend makes objects of a kind.
func Makes(kind schema.GroupKind) bool {
	made := []schema.GroupVersionKind{kinds.ConfigMap, kinds.Namespace}
	for _, b := range All() {
		made = append(made, b.Targets...)
	}
	return slices.ContainsFunc(made, func(of schema.GroupVersionKind) bool {
		return of.Group == kind.Group && (of.Kind == kind.Kind || of.Kind == "")
	})
}

// Default returns the type of the backend that installs an application unless an instance names another one, empty if
// there is none.
func Default(of *catalog.Application) string {
	switch {
	case of.Group == kinds.KKPGroup:
		return backend.Helm
	case of.OfCozystack():
		return backend.CozystackApplication
	default:
		return ""
	}
}

// Notes returns the notes on an instance that a backend has built, or will: then it has no bundle, and there are fewer.
func Notes(name string, instance backend.Instance) []backend.Note {
	if name == backend.ClusterExtension {
		return olm.ExtensionNotes(instance)
	}
	return nil
}
