// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/record"
	"github.com/winnow-dev/winnow/controllers/transfers"
)

// reportInstances reports the states of instances until the context ends.
func (r *CatalogSelectionReconciler) reportInstances(ctx context.Context) error {
	context.AfterFunc(ctx, r.instances.queue.ShutDown)
	for {
		key, end := r.instances.queue.Get()
		if end {
			return nil
		}
		err := transfers.Recover(ctx, "reading the states of instances", func() error { return r.reportInstancesOf(ctx, key) })
		if err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "reporting instances", "selection", key.String())
			r.instances.queue.AddAfter(key, instanceRetry)
		}
		r.instances.queue.Done(key)
	}
}

// reportInstancesOf writes the states of the instances in the artifact of a selection into its status, and nothing else.
// Without a change it writes nothing. The status of a spec that was not reconciled stays as it is.
func (r *CatalogSelectionReconciler) reportInstancesOf(ctx context.Context, key types.NamespacedName) error {
	before := &v1alpha1.CatalogSelection{}
	if err := r.Get(ctx, key, before); err != nil {
		delete(r.instances.known, key)
		r.replaced.Delete(key)
		r.cluster.Instances.Forget(key)
		return client.IgnoreNotFound(err)
	}
	if before.Spec.Suspend || !before.DeletionTimestamp.IsZero() || before.Generation != before.Status.ObservedGeneration {
		return nil
	}
	cs := before.DeepCopy()
	var err error
	if len(cs.Status.Instances) > 0 { // without instances, the record is not unpacked
		if cs.Status.Instances, err = r.cluster.Instances.Observe(ctx, cs, record.Live(cs)); err != nil {
			return err
		}
	}
	reportCondition(cs, v1alpha1.InstancesReadyCondition, instancesReady(cs))
	if equality.Semantic.DeepEqual(before.Status, cs.Status) {
		return nil
	}
	if _, runs := r.instances.reconciled.Load(key); runs {
		return nil // which enqueues it again
	}
	err = r.patchStatus(ctx, before, cs)
	if isConflict(err) {
		r.instances.enqueue(key)
		return nil
	}
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	events{r.EventRecorder, before, cs}.instances(r.instances.reported(before))
	r.recordInstances(ctx, cs)
	return nil
}
