package controllers

import (
	"context"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/record"
)

// outdated reports whether the status of a selection is older than what was published last, or whether that is not known.
func (r *CatalogSelectionReconciler) outdated(ctx context.Context, cs *v1alpha1.CatalogSelection) bool {
	last, _ := record.Read(cs)
	newer, err := r.artifacts.Newer(ctx, cs, last.PublishedRevisions(cs))
	return newer != nil || err != nil
}
