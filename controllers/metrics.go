// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// recordMetrics records the conditions of a selection, or deletes the series of one that is deleted.
func (r *CatalogSelectionReconciler) recordMetrics(ctx context.Context, cs *v1alpha1.CatalogSelection, start time.Time) {
	r.RecordSuspend(ctx, cs, cs.Spec.Suspend)
	r.RecordReadiness(ctx, cs)
	r.RecordReconciling(ctx, cs)
	r.RecordStalled(ctx, cs)
	for _, condition := range []string{
		v1alpha1.HeldCondition, v1alpha1.SourceReadyCondition, v1alpha1.UnmatchedCondition,
		v1alpha1.AppliedCondition, v1alpha1.PushedCondition, v1alpha1.KeptCondition,
		v1alpha1.InstancesReadyCondition,
	} {
		if r.IsDelete(cs) {
			r.DeleteCondition(ctx, cs, condition)
			continue
		}
		r.RecordCondition(ctx, cs, condition)
	}
	r.RecordDuration(ctx, cs, start)
}

// deleteMetrics deletes the series of a selection that is not in the cache.
func (r *CatalogSelectionReconciler) deleteMetrics(ctx context.Context, key types.NamespacedName) {
	deleted := &v1alpha1.CatalogSelection{}
	deleted.Name, deleted.Namespace, deleted.DeletionTimestamp = key.Name, key.Namespace, &metav1.Time{Time: time.Unix(0, 0)}
	r.recordMetrics(ctx, deleted, time.Time{})
}
