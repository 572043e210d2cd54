package controllers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// departureDelay is the time after which the archives of a selection that moved away are looked at
// again, while nobody else serves it.
const departureDelay = 30 * time.Second

// departed forgets a selection that the cache does not have: it was deleted, and finalize has
// removed all, or it belongs to another shard now. Its archives stay until that one serves it.
func (r *CatalogSelectionReconciler) departed(ctx context.Context, key types.NamespacedName) (ctrl.Result, error) {
	r.Cluster.Gone(key)
	r.Cluster.Kinds.Forget(key)
	r.Pushes.forget(key) // another shard may push it from now on

	cs := &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	archives := r.Storage.NewArtifactFor(sourcev1.ExternalArtifactKind, cs, "", "*")
	if _, err := os.Stat(filepath.Dir(r.Storage.LocalPath(archives))); errors.Is(err, fs.ErrNotExist) {
		return ctrl.Result{}, nil
	}
	served, err := r.serves(ctx, key)
	if err != nil {
		return ctrl.Result{}, err
	}
	if served {
		return ctrl.Result{RequeueAfter: departureDelay}, nil
	}
	if _, err := r.Storage.RemoveAll(archives); err != nil {
		return ctrl.Result{}, fmt.Errorf("removing the archives of a selection of another shard: %w", err)
	}
	ctrl.LoggerFrom(ctx).Info("removed the archives of a selection that is not of this controller any more")
	return ctrl.Result{}, nil
}

// serves reports whether the ExternalArtifact names an archive of this storage. The cache may be behind
// whoever patches it.
func (r *CatalogSelectionReconciler) serves(ctx context.Context, key types.NamespacedName) (bool, error) {
	announced := &sourcev1.ExternalArtifact{}
	err := r.APIReader.Get(ctx, key, announced)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("getting the ExternalArtifact: %w", err)
	case announced.Status.Artifact == nil:
		return false, nil
	}
	own := announced.Status.Artifact.DeepCopy()
	r.Storage.SetArtifactURL(own)
	return own.URL == announced.Status.Artifact.URL, nil
}
