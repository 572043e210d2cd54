package controllers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/artifact/storage"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// baseline returns what a new render is compared with: the record of the last publication, or else the
// content of the artifact that the ExternalArtifact, or the status, names; nothing before the first
// publication. An error that is no API's says that there must have been one, and that it is lost: a
// record that cannot be read, such as that of a newer controller, is none, but there was a publication.
func (r *CatalogSelectionReconciler) baseline(ctx context.Context, cs *v1alpha1.CatalogSelection, record *publishedRecord) (guard.Published, error) {
	if reachedNobody(cs) {
		return guard.Published{}, nil
	}
	if record != nil {
		return record.published(), nil
	}
	_, unread := readRecord(cs)
	artifact, err := r.lastArtifact(ctx, cs)
	switch {
	case err != nil:
		return guard.Published{}, err
	case artifact == nil && (cs.Status.WrittenRecord != nil || len(cs.Status.Published) > 0):
		return guard.Published{}, &baselineError{unread}
	case artifact == nil:
		return guard.Published{}, nil
	}
	published, err := r.contentOf(ctx, cs, artifact)
	if err != nil {
		return guard.Published{}, &baselineError{fmt.Errorf("%w, and %w", unread, err)}
	}
	return guard.Published{Definitions: published}, nil
}

// reachedNobody reports whether what the record has was neither served nor pushed: nobody can lose it.
func reachedNobody(cs *v1alpha1.CatalogSelection) bool {
	return cluster.AwaitsConsumer(cs) && cs.Spec.Push == nil
}

// baselineError says that what was published last is not known.
type baselineError struct{ err error }

func (e *baselineError) Error() string {
	return "what was published last is not known, so that what this revision takes away is not known either: " + e.err.Error()
}
func (e *baselineError) Unwrap() error { return e.err }

// lastArtifact returns the artifact that was published last as the ExternalArtifact has it, read past
// the cache, or as the status has it; nil before the first publication.
func (r *CatalogSelectionReconciler) lastArtifact(ctx context.Context, cs *v1alpha1.CatalogSelection) (*meta.Artifact, error) {
	announced := &sourcev1.ExternalArtifact{}
	err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(cs), announced)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fail(v1alpha1.StorageFailedReason, fmt.Errorf("reading the ExternalArtifact: %w", err))
	}
	if err == nil && metav1.IsControlledBy(announced, cs) && announced.Status.Artifact != nil {
		return announced.Status.Artifact, nil
	}
	return cs.Status.Artifact, nil
}

// contentOf reads the definitions of an artifact out of the storage.
func (r *CatalogSelectionReconciler) contentOf(ctx context.Context, cs *v1alpha1.CatalogSelection, artifact *meta.Artifact) ([]safeguard.Definition, error) {
	own := path.Dir(artifact.Path) == storage.ArtifactDir(sourcev1.ExternalArtifactKind, cs.Namespace, cs.Name)
	if !own || !r.Storage.ArtifactExist(*artifact) {
		return nil, errors.New("the archive is not there")
	}
	if err := r.Storage.VerifyArtifact(*artifact); err != nil {
		return nil, errors.New("the archive is damaged")
	}
	archive, err := os.Open(r.Storage.LocalPath(*artifact))
	if err != nil {
		return nil, fail(v1alpha1.StorageFailedReason, fmt.Errorf("opening the last archive: %w", err))
	}
	defer archive.Close()
	return render.ReadArtifact(ctx, archive)
}
