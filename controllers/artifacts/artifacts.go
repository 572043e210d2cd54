// SPDX-License-Identifier: Apache-2.0

// Package artifacts keeps the archives of selections in the storage, and the ExternalArtifacts that refer to
// them. It must not know the content of an archive, nor when it may be served.
package artifacts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/artifact/storage"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/metrics"
)

// Artifacts writes archives and ExternalArtifacts. All fields but Traffic are required.
type Artifacts struct {
	// Client writes as the field manager of the controller.
	Client client.Client
	// APIReader reads from the API server, not from the cache.
	APIReader client.Reader
	// Storage has the archives that are served.
	Storage *storage.Storage
	// Traffic counts the bytes of archives; may be nil.
	Traffic *metrics.Traffic

	// announced maps the types.NamespacedName of a selection to the announcement of this process, while it names an artifact.
	announced sync.Map
}

// announcement is what an ExternalArtifact has been made to name.
type announcement struct {
	uid      types.UID
	artifact *meta.Artifact
}

// Announce creates or updates the ExternalArtifact with the selection's name: with the artifact in the status,
// or without one while it is withheld. It never changes one that the selection does not own.
func (a *Artifacts) Announce(ctx context.Context, cs *v1alpha1.CatalogSelection) error {
	a.note(cs)
	existing, err := a.Find(ctx, cs)
	if apierrors.IsNotFound(err) {
		existing = desiredExternalArtifact(cs)
		err = a.Client.Create(ctx, existing)
	}
	if err != nil {
		return refused(cs.Namespace, fmt.Errorf("getting or creating the ExternalArtifact: %w", err))
	}
	if !describe(cs, existing) && !announceStatus(cs, existing) {
		return nil
	}
	if existing, err = a.fenced(ctx, cs); err == nil {
		err = a.patchSpec(ctx, cs, existing)
	}
	if err == nil {
		err = a.patchStatus(ctx, cs, existing)
	}
	if err != nil {
		return fmt.Errorf("patching the ExternalArtifact: %w", err)
	}
	return nil
}

// AnnounceNext is Announce right after the status with a new publication was written, with an optimistic lock. existing is the
// ExternalArtifact as Find returned it before that write; nil without one. Its version is the fence: another process that publishes,
// withholds or replaces the selection later writes the status later, and after that changes an ExternalArtifact that names an artifact,
// because no two publications name the same one. So nothing is read unless it has changed.
func (a *Artifacts) AnnounceNext(ctx context.Context, cs *v1alpha1.CatalogSelection, existing *sourcev1.ExternalArtifact) error {
	if existing == nil || existing.Status.Artifact == nil || describe(cs, existing.DeepCopy()) {
		return a.Announce(ctx, cs)
	}
	a.note(cs)
	err := a.patchStatus(ctx, cs, existing)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return a.Announce(ctx, cs)
	}
	if err != nil {
		return fmt.Errorf("patching the status of the ExternalArtifact: %w", err)
	}
	return nil
}

// note stores what the ExternalArtifact names from now on, before it is written: its watch may be faster than the answer.
func (a *Artifacts) note(cs *v1alpha1.CatalogSelection) {
	key := client.ObjectKeyFromObject(cs)
	if cs.Status.Withheld != "" {
		a.announced.Delete(key)
		return
	}
	a.announced.Store(key, announcement{cs.UID, cs.Status.Artifact.DeepCopy()})
}

// Forget forgets what the ExternalArtifact of a selection names.
func (a *Artifacts) Forget(key types.NamespacedName) { a.announced.Delete(key) }

// IsAsAnnounced reports whether Announce would not change an ExternalArtifact: it is as this process has written it last, and
// names an artifact.
func (a *Artifacts) IsAsAnnounced(existing *sourcev1.ExternalArtifact) bool {
	last, ok := a.announced.Load(client.ObjectKeyFromObject(existing))
	if !ok || !existing.DeletionTimestamp.IsZero() {
		return false
	}
	cs := &v1alpha1.CatalogSelection{Status: v1alpha1.CatalogSelectionStatus{Artifact: last.(announcement).artifact}}
	cs.Name, cs.Namespace, cs.UID = existing.Name, existing.Namespace, last.(announcement).uid
	next := existing.DeepCopy()
	return isOf(existing, cs) && !describe(cs, next) && !announceStatus(cs, next)
}

// Find returns the ExternalArtifact with the selection's name. If another owner has it, the error has the
// reason NameConflict.
func (a *Artifacts) Find(ctx context.Context, cs *v1alpha1.CatalogSelection) (*sourcev1.ExternalArtifact, error) {
	return find(ctx, a.Client, cs)
}

func find(ctx context.Context, reader client.Reader, cs *v1alpha1.CatalogSelection) (*sourcev1.ExternalArtifact, error) {
	existing := &sourcev1.ExternalArtifact{}
	if err := reader.Get(ctx, client.ObjectKeyFromObject(cs), existing); err != nil {
		return nil, err
	}
	if !isOf(existing, cs) {
		return nil, failure.Because(v1alpha1.NameConflictReason, fmt.Errorf(
			"the ExternalArtifact %s/%s exists and belongs to another owner; rename this CatalogSelection, "+
				"or delete the ExternalArtifact if nothing needs it", existing.Namespace, existing.Name))
	}
	return existing, nil
}

// IsAnnounced reports whether the ExternalArtifact of the selection names an artifact.
func (a *Artifacts) IsAnnounced(ctx context.Context, cs *v1alpha1.CatalogSelection) (bool, error) {
	existing, err := a.Find(ctx, cs)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil && existing.Status.Artifact != nil, err
}

// isOf reports whether an ExternalArtifact belongs to the selection: the selection owns it, or it names the selection as
// its source and has no owner, or one of this name under another UID. A backup restores objects under new UIDs, without
// their owners.
func isOf(existing *sourcev1.ExternalArtifact, cs *v1alpha1.CatalogSelection) bool {
	if metav1.IsControlledBy(existing, cs) {
		return true
	}
	ref, desired := existing.Spec.SourceRef, desiredExternalArtifact(cs)
	if ref == nil || *ref != *desired.Spec.SourceRef {
		return false
	}
	own := desired.OwnerReferences[0]
	return !slices.ContainsFunc(existing.OwnerReferences, func(owner metav1.OwnerReference) bool {
		return owner.APIVersion != own.APIVersion || owner.Kind != own.Kind || owner.Name != own.Name
	})
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

func (a *Artifacts) patchSpec(ctx context.Context, cs *v1alpha1.CatalogSelection, existing *sourcev1.ExternalArtifact) error {
	before := existing.DeepCopy()
	if !describe(cs, existing) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}) // or it might be of another owner now
	return a.Client.Patch(ctx, existing, patch)
}

// describe sets the spec and the metadata of the ExternalArtifact, and reports whether that changes it.
func describe(cs *v1alpha1.CatalogSelection, existing *sourcev1.ExternalArtifact) bool {
	desired, before := desiredExternalArtifact(cs), existing.DeepCopy()
	existing.Spec = desired.Spec
	if !metav1.IsControlledBy(existing, cs) {
		existing.OwnerReferences = desired.OwnerReferences
	}
	if existing.Labels == nil {
		existing.Labels = map[string]string{}
	}
	maps.Copy(existing.Labels, desired.Labels)
	return !equality.Semantic.DeepEqual(before, existing)
}

var errPublished = errors.New("another process has published another revision")

// fenced returns the ExternalArtifact in the API server, or a conflict: a process that was frozen, while another one leads, must not
// restore an older artifact, nor an earlier owner. First it reads the ExternalArtifact, then the selection, which another leader writes
// first. The optimistic lock covers later writes.
func (a *Artifacts) fenced(ctx context.Context, cs *v1alpha1.CatalogSelection) (*sourcev1.ExternalArtifact, error) {
	existing, err := find(ctx, a.APIReader, cs)
	if err != nil {
		return nil, err
	}
	now := &v1alpha1.CatalogSelection{}
	if err := a.APIReader.Get(ctx, client.ObjectKeyFromObject(cs), now); err != nil {
		return nil, err
	}
	if now.UID != cs.UID || consumers.RevisionOf(now) != consumers.RevisionOf(cs) || now.Status.Withheld != cs.Status.Withheld {
		return nil, failure.Conflict(cs, errPublished)
	}
	return existing, nil
}

// patchStatus writes the status of an ExternalArtifact, if it differs and nobody has changed it since it was read.
func (a *Artifacts) patchStatus(ctx context.Context, cs *v1alpha1.CatalogSelection, existing *sourcev1.ExternalArtifact) error {
	before := existing.DeepCopy()
	if !announceStatus(cs, existing) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return a.Client.Status().Patch(ctx, existing, patch)
}

// announceStatus sets the status of the ExternalArtifact, and reports whether that changes it.
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
	if consumers.Awaited(cs) {
		return "no artifact is served until a Kustomization uses it and its inventory was compared; " +
			"spec.cluster.serve: Always of the CatalogSelection serves it to other consumers"
	}
	return "no artifact is served while other owners hold objects in it; see the conditions of the CatalogSelection"
}

// Last returns the last published artifact from the ExternalArtifact in the API server, or else from the
// status; nil before the first publication.
func (a *Artifacts) Last(ctx context.Context, cs *v1alpha1.CatalogSelection) (*meta.Artifact, error) {
	announced := &sourcev1.ExternalArtifact{}
	err := a.APIReader.Get(ctx, client.ObjectKeyFromObject(cs), announced)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("reading the ExternalArtifact: %w", err))
	}
	if err == nil && isOf(announced, cs) && announced.Status.Artifact != nil {
		return announced.Status.Artifact, nil
	}
	return cs.Status.Artifact, nil
}

// Serves reports whether the ExternalArtifact refers to an archive of this storage. It reads from the API
// server, because the cache may lag behind another writer.
func (a *Artifacts) Serves(ctx context.Context, key types.NamespacedName) (bool, error) {
	announced := &sourcev1.ExternalArtifact{}
	err := a.APIReader.Get(ctx, key, announced)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("getting the ExternalArtifact: %w", err)
	case announced.Status.Artifact == nil:
		return false, nil
	}
	return a.has(announced.Status.Artifact), nil
}

// Delete deletes the ExternalArtifact that belongs to the selection, if it exists.
func (a *Artifacts) Delete(ctx context.Context, cs *v1alpha1.CatalogSelection) error {
	existing := &sourcev1.ExternalArtifact{}
	if err := a.Client.Get(ctx, client.ObjectKeyFromObject(cs), existing); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !isOf(existing, cs) {
		return nil
	}
	err := a.Client.Delete(ctx, existing, client.Preconditions{UID: &existing.UID})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// Collect deletes the ExternalArtifact of a selection that the API server no longer has, as the garbage collector of
// Kubernetes does. It deletes none without that owner, none of another storage, and none while a selection of this name
// exists, which takes it over.
func (a *Artifacts) Collect(ctx context.Context, key types.NamespacedName) error {
	existing := &sourcev1.ExternalArtifact{}
	if err := a.Client.Get(ctx, key, existing); err != nil {
		return client.IgnoreNotFound(err)
	}
	owner := metav1.GetControllerOf(existing)
	if owner == nil || owner.APIVersion != v1alpha1.GroupVersion.String() || owner.Kind != v1alpha1.CatalogSelectionKind ||
		owner.Name != key.Name || existing.Status.Artifact != nil && !a.has(existing.Status.Artifact) {
		return nil
	}
	if err := a.APIReader.Get(ctx, key, &v1alpha1.CatalogSelection{}); !apierrors.IsNotFound(err) {
		return err
	}
	preconditions := client.Preconditions{UID: &existing.UID, ResourceVersion: &existing.ResourceVersion}
	return client.IgnoreNotFound(a.Client.Delete(ctx, existing, preconditions))
}

// has reports whether an artifact is in this storage, by its URL.
func (a *Artifacts) has(artifact *meta.Artifact) bool {
	own := artifact.DeepCopy()
	a.Storage.SetArtifactURL(own)
	return own.URL == artifact.URL
}

// refused attaches to an error of the API server the reason and the remedy, where the namespace is the cause. A quota is
// known by its text alone: the error has the reason Forbidden, like a missing right.
func refused(namespace string, err error) error {
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return failure.Because(v1alpha1.NamespaceTerminatingReason, fmt.Errorf("the namespace %s is being deleted and accepts no new object: "+
			"nothing more is published from it; what is to stay needs a CatalogSelection in another namespace: %w", namespace, err))
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota: "):
		return failure.Because(v1alpha1.QuotaExceededReason, fmt.Errorf("a ResourceQuota of the namespace %s does not allow the ExternalArtifact: "+
			"raise the quota, or delete what nothing needs; it is tried again with backoff: %w", namespace, err))
	}
	return err
}
