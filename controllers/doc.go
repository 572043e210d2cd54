// SPDX-License-Identifier: Apache-2.0

// Package controllers reconciles CatalogSelections: it runs the steps from a spec to an ExternalArtifact in
// order (steps.go), and reports their outcome. The work of a step is in a package of its own, in the order of the
// flow: source observes, fetches and parses sources; cluster compares the render with live objects; record packs
// what was published; artifacts stores and announces it; listing and holds describe it in the status; pushes pushes
// it to a registry. None of these imports this package.
//
// It must not know how a catalog becomes an artifact (package render), and it never applies applications. Conditions, events and retries are decided in outcome.go and nowhere else.
package controllers

// +kubebuilder:rbac:groups=catalog.winnow.dev,resources=catalogselections,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=catalog.winnow.dev,resources=catalogselections/status,verbs=patch
// +kubebuilder:rbac:groups=catalog.winnow.dev,resources=catalogselections/finalizers,verbs=update
// +kubebuilder:rbac:groups=source.toolkit.fluxcd.io,resources=ocirepositories;gitrepositories;buckets,verbs=get;list;watch
// +kubebuilder:rbac:groups=source.toolkit.fluxcd.io,resources=externalartifacts,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=source.toolkit.fluxcd.io,resources=externalartifacts/status,verbs=patch
// +kubebuilder:rbac:groups=kustomize.toolkit.fluxcd.io,resources=kustomizations,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
