package controllers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/artifact/storage"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster"
	"github.com/winnow-dev/winnow/render"
)

// originRevision is the key of an artifact's metadata that Flux shows as
// lastAppliedOriginRevision of a Kustomization.
const originRevision = "org.opencontainers.image.revision"

// store writes the archive of a render and returns the artifact that describes it. Where the
// storage has the archive of the same revision already, its bytes stay.
func (r *CatalogSelectionReconciler) store(cs *v1alpha1.CatalogSelection, result *render.Result, sources []observedSource) (*meta.Artifact, error) {
	if last := cs.Status.Artifact; last != nil && last.Revision == result.Revision && r.intact(cs) {
		kept := last.DeepCopy()
		kept.Metadata = originMetadata(sources)
		r.Storage.SetArtifactURL(kept)
		return kept, nil
	}
	var content bytes.Buffer
	if err := result.WriteArchive(&content); err != nil {
		return nil, fmt.Errorf("writing the archive: %w", err)
	}
	checksum := result.Revision[strings.LastIndexByte(result.Revision, ':')+1:]
	artifact := r.Storage.NewArtifactFor(sourcev1.ExternalArtifactKind, cs, result.Revision, checksum+".tar.gz")
	if err := r.Storage.MkdirAll(artifact); err != nil {
		return nil, fmt.Errorf("making the directory of the archive: %w", err)
	}
	if err := r.Storage.Copy(&artifact, &content); err != nil {
		return nil, fmt.Errorf("storing the archive: %w", err)
	}
	// The API keeps whole seconds.
	artifact.LastUpdateTime = artifact.LastUpdateTime.Rfc3339Copy()
	artifact.Metadata = originMetadata(sources)
	return &artifact, nil
}

// originMetadata names the revisions of the sources: of a single source as it is, of several
// as kind/namespace/name=revision, separated by commas.
func originMetadata(sources []observedSource) map[string]string {
	if len(sources) == 1 {
		return map[string]string{originRevision: sources[0].artifact.Revision}
	}
	parts := make([]string, len(sources))
	for i, s := range sources {
		parts[i] = fmt.Sprintf("%s/%s=%s", s.kind, s.name, s.artifact.Revision)
	}
	return map[string]string{originRevision: strings.Join(parts, ",")}
}

// intact reports whether the storage has, in the directory of the selection, the very bytes of
// the artifact in its status.
func (r *CatalogSelectionReconciler) intact(cs *v1alpha1.CatalogSelection) bool {
	artifact := cs.Status.Artifact
	dir := storage.ArtifactDir(sourcev1.ExternalArtifactKind, cs.Namespace, cs.Name)
	return path.Dir(artifact.Path) == dir && r.Storage.ArtifactExist(*artifact) &&
		r.Storage.VerifyArtifact(*artifact) == nil
}

// announce makes the ExternalArtifact of the selection's name say what the status says, and creates it
// where it is missing: the artifact, or nothing while that is withheld. One that the selection does not
// own is never touched.
func (r *CatalogSelectionReconciler) announce(ctx context.Context, cs *v1alpha1.CatalogSelection) error {
	existing, err := r.externalArtifact(ctx, cs)
	if apierrors.IsNotFound(err) {
		existing = desiredExternalArtifact(cs)
		err = r.Create(ctx, existing, client.FieldOwner(r.ControllerName))
	}
	if err != nil {
		return fmt.Errorf("getting or creating the ExternalArtifact: %w", err)
	}
	if err := r.patchSpec(ctx, cs, existing); err != nil {
		return fmt.Errorf("patching the ExternalArtifact: %w", err)
	}
	if err := r.patchArtifact(ctx, cs, existing); err != nil {
		return fmt.Errorf("patching the status of the ExternalArtifact: %w", err)
	}
	return nil
}

// externalArtifact gets the ExternalArtifact of the selection's name; one of another owner is
// an error with the reason NameConflict.
func (r *CatalogSelectionReconciler) externalArtifact(ctx context.Context, cs *v1alpha1.CatalogSelection) (*sourcev1.ExternalArtifact, error) {
	existing := &sourcev1.ExternalArtifact{}
	if err := r.Get(ctx, client.ObjectKeyFromObject(cs), existing); err != nil {
		return nil, err
	}
	if !metav1.IsControlledBy(existing, cs) {
		return nil, fail(v1alpha1.NameConflictReason, fmt.Errorf(
			"the ExternalArtifact %s/%s exists and belongs to another owner; rename this CatalogSelection, "+
				"or delete the ExternalArtifact if nothing needs it", existing.Namespace, existing.Name))
	}
	return existing, nil
}

func desiredExternalArtifact(cs *v1alpha1.CatalogSelection) *sourcev1.ExternalArtifact {
	gvk := v1alpha1.GroupVersion.WithKind(v1alpha1.CatalogSelectionKind)
	return &sourcev1.ExternalArtifact{
		ObjectMeta: metav1.ObjectMeta{
			Name:            cs.Name,
			Namespace:       cs.Namespace,
			Labels:          map[string]string{v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cs, gvk)},
		},
		Spec: sourcev1.ExternalArtifactSpec{
			SourceRef: &meta.NamespacedObjectKindReference{
				APIVersion: v1alpha1.GroupVersion.String(),
				Kind:       v1alpha1.CatalogSelectionKind,
				Name:       cs.Name,
				Namespace:  cs.Namespace,
			},
		},
	}
}

func (r *CatalogSelectionReconciler) patchSpec(ctx context.Context, cs *v1alpha1.CatalogSelection, existing *sourcev1.ExternalArtifact) error {
	desired := desiredExternalArtifact(cs)
	before := existing.DeepCopy()
	existing.Spec = desired.Spec
	if existing.Labels == nil {
		existing.Labels = map[string]string{}
	}
	maps.Copy(existing.Labels, desired.Labels)
	if equality.Semantic.DeepEqual(before, existing) {
		return nil
	}
	return r.Patch(ctx, existing, client.MergeFrom(before), client.FieldOwner(r.ControllerName))
}

// patchArtifact writes what announceStatus says, if the ExternalArtifact says anything else. It is
// fenced: a process that was frozen meanwhile, while another one leads, must not put an older artifact
// back. First the ExternalArtifact is read past the cache, then the selection, which another leader
// writes first; the optimistic lock covers what it writes afterwards.
func (r *CatalogSelectionReconciler) patchArtifact(ctx context.Context, cs *v1alpha1.CatalogSelection, existing *sourcev1.ExternalArtifact) error {
	if !announceStatus(cs, existing.DeepCopy()) {
		return nil
	}
	if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(cs), existing); err != nil {
		return err
	}
	now := &v1alpha1.CatalogSelection{}
	if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(cs), now); err != nil {
		return err
	}
	if now.UID != cs.UID || cluster.RevisionOf(now) != cluster.RevisionOf(cs) || now.Status.Withheld != cs.Status.Withheld {
		return apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("catalogselections").GroupResource(), cs.Name,
			errors.New("another process has published something else"))
	}
	before := existing.DeepCopy()
	if !announceStatus(cs, existing) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return r.Status().Patch(ctx, existing, patch, client.FieldOwner(r.ControllerName))
}

// announceStatus gives the ExternalArtifact the status that it is to have, and reports whether that
// changes it.
func announceStatus(cs *v1alpha1.CatalogSelection, existing *sourcev1.ExternalArtifact) bool {
	before := existing.Status.DeepCopy()
	switch {
	case cs.Status.Withheld != "":
		existing.Status.Artifact = nil
		conditions.MarkFalse(existing, meta.ReadyCondition, cs.Status.Withheld, "%s", withheldMessage(cs))
	default:
		existing.Status.Artifact = cs.Status.Artifact.DeepCopy()
		conditions.MarkTrue(existing, meta.ReadyCondition, v1alpha1.SucceededReason,
			"stored artifact for revision %s", cs.Status.Artifact.Revision)
	}
	return !equality.Semantic.DeepEqual(before, &existing.Status)
}

func withheldMessage(cs *v1alpha1.CatalogSelection) string {
	if cluster.AwaitsConsumer(cs) {
		return "no artifact is served until a Kustomization uses it and what it has applied was compared; " +
			"spec.cluster.serve: Always of the CatalogSelection serves it to other consumers"
	}
	return "no artifact is served while others hold what it has; the CatalogSelection says more"
}
