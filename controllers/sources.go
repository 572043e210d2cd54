package controllers

import (
	"context"
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

// fluxSource is what all kinds of Flux sources have in common.
type fluxSource interface {
	client.Object
	meta.ObjectWithConditions
	GetArtifact() *meta.Artifact
}

// sourceKinds returns an empty object of every kind of source that a CatalogSelection can name.
func sourceKinds() map[string]fluxSource {
	return map[string]fluxSource{
		sourcev1.OCIRepositoryKind:    &sourcev1.OCIRepository{},
		sourcev1.GitRepositoryKind:    &sourcev1.GitRepository{},
		sourcev1.BucketKind:           &sourcev1.Bucket{},
		sourcev1.ExternalArtifactKind: &sourcev1.ExternalArtifact{},
	}
}

// observedSource is a source with the artifact that it had when it was looked at.
type observedSource struct {
	kind     string
	name     types.NamespacedName
	path     string
	format   string
	artifact meta.Artifact
	// repository is the source itself, if it is an OCIRepository.
	repository *sourcev1.OCIRepository
	// catalogLocation is what is known of its manifest already, or nil.
	catalogLocation *catalogLocation
	// mustVerify says that a signature is required, and verified what is known of it.
	mustVerify bool
	verified   verification
}

func (s observedSource) status() v1alpha1.SourceStatus {
	return v1alpha1.SourceStatus{
		Kind: s.kind, Name: s.name.Name, Namespace: s.name.Namespace,
		Revision: s.artifact.Revision, Digest: s.artifact.Digest,
	}
}

// observe looks the sources up, in order. The error is that of the first one that is not to be
// used: AccessDenied or SourceNotReady.
func (r *CatalogSelectionReconciler) observe(ctx context.Context, cs *v1alpha1.CatalogSelection) ([]observedSource, error) {
	observed := make([]observedSource, 0, len(cs.Spec.Sources))
	for _, ref := range cs.Spec.Sources {
		kind, key := guard.SourceKey(cs, ref)
		if err := r.mayRefer(cs, kind, key); err != nil {
			return nil, err
		}
		source, err := r.sourceOf(ctx, kind, key)
		if err != nil {
			return nil, err
		}
		o := observedSource{kind: kind, name: key, path: ref.Path, format: ref.Format, artifact: *source.GetArtifact()}
		o.repository, _ = source.(*sourcev1.OCIRepository)
		if ref.RequireVerified {
			o.mustVerify, o.verified = true, verificationOf(source)
			if o.verified.signature == valid {
				o.verified = o.extracted()
			}
		}
		observed = append(observed, o)
	}
	return observed, nil
}

// mayRefer returns an error with the reason AccessDenied for a source of another namespace, while such
// references are forbidden.
func (r *CatalogSelectionReconciler) mayRefer(cs *v1alpha1.CatalogSelection, kind string, key types.NamespacedName) error {
	if !r.NoCrossNamespaceRefs || key.Namespace == cs.Namespace {
		return nil
	}
	return fail(v1alpha1.AccessDeniedReason, fmt.Errorf(
		"source %s %s is in another namespace, and cross-namespace references are forbidden "+
			"by --no-cross-namespace-refs", kind, key))
}

// sourceOf gets a source, which has an artifact. Where it has none, the error has what the source says.
func (r *CatalogSelectionReconciler) sourceOf(ctx context.Context, kind string, key types.NamespacedName) (fluxSource, error) {
	source, err := r.getSource(ctx, kind, key)
	if err != nil {
		return nil, err
	}
	if !hasArtifact(source) {
		return nil, fail(v1alpha1.SourceNotReadyReason, fmt.Errorf("source %s %s has no artifact yet: %s",
			kind, key, readinessIn(source).message))
	}
	return source, nil
}

func hasArtifact(source fluxSource) bool {
	artifact := source.GetArtifact()
	return artifact != nil && artifact.URL != "" && artifact.Digest != ""
}

// getSource gets a source, with an artifact or without.
func (r *CatalogSelectionReconciler) getSource(ctx context.Context, kind string, key types.NamespacedName) (fluxSource, error) {
	source, known := sourceKinds()[kind]
	if !known {
		return nil, fail(v1alpha1.InvalidSpecReason, fmt.Errorf("kind %s is not a source of catalogs", kind))
	}
	if err := r.Get(ctx, key, source); apierrors.IsNotFound(err) {
		return nil, fail(v1alpha1.SourceNotReadyReason, fmt.Errorf("source %s %s does not exist", kind, key))
	} else if err != nil {
		return nil, fail(v1alpha1.StorageFailedReason, fmt.Errorf("getting source %s %s: %w", kind, key, err))
	}
	return source, nil
}
