// Package controllers reconciles CatalogSelections: it observes their sources, fetches and
// renders the catalogs, publishes the ExternalArtifact, reports, and collects garbage.
//
// On the cluster it looks at live definitions and at the Kustomizations that apply the artifact,
// and sets two marks on definitions; see marks.go.
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
