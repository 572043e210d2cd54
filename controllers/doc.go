// Package controllers reconciles CatalogSelections: it runs the steps from a spec to an ExternalArtifact in
// order (steps.go), and reports. What a step does stands in a package of its own, in the order of the flow:
// source observes, fetches and parses; the cluster package compares with what lives there; record keeps what
// was published; artifacts serves it; listing and holds put it into the status; pushes sends it elsewhere.
// None of these imports this package.
//
// It must not know how a catalog becomes an artifact (package render), and it never applies
// the applications. Conditions, events and retries are decided in outcome.go and nowhere else.
package controllers

// +kubebuilder:rbac:groups=catalog.winnow.dev,resources=catalogselections,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=catalog.winnow.dev,resources=catalogselections/status,verbs=patch
// +kubebuilder:rbac:groups=catalog.winnow.dev,resources=catalogselections/finalizers,verbs=update
// +kubebuilder:rbac:groups=source.toolkit.fluxcd.io,resources=ocirepositories;gitrepositories;buckets,verbs=get;list;watch
// +kubebuilder:rbac:groups=source.toolkit.fluxcd.io,resources=externalartifacts,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=source.toolkit.fluxcd.io,resources=externalartifacts/status,verbs=patch
// +kubebuilder:rbac:groups=kustomize.toolkit.fluxcd.io,resources=kustomizations,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
