// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"time"

	"github.com/fluxcd/pkg/runtime/predicates"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	ctrlsource "sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/render/guard"
)

// sourceIndex finds the CatalogSelections that name a source, by kind/namespace/name.
const sourceIndex = ".spec.sources"

// SetupWithManager registers the controller and its watches.
func (r *CatalogSelectionReconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager,
	limiter workqueue.TypedRateLimiter[reconcile.Request]) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.CatalogSelection{}, sourceIndex, indexSources); err != nil {
		return fmt.Errorf("indexing sources: %w", err)
	}
	for _, part := range []struct {
		what string
		manager.Runnable
	}{
		{"the watches of kinds", r.cluster.Kinds},
		{"the downloads", r.loader.Queue},
		{"the pushes", r.pushes},
		{"the states of instances", manager.RunnableFunc(r.reportInstances)},
		{"the look at the storage", manager.RunnableFunc(r.enqueueStored)},
	} {
		if err := mgr.Add(part.Runnable); err != nil {
			return fmt.Errorf("adding %s: %w", part.what, err)
		}
	}
	r.slots.limit = max(1, mgr.GetControllerOptions().MaxConcurrentReconciles/2) // the others are for other namespaces
	b := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.CatalogSelection{}, builder.WithPredicates(
			predicate.Or(predicate.GenerationChangedPredicate{}, predicates.ReconcileRequestedPredicate{}))).
		Watches(&sourcev1.ExternalArtifact{}, handler.EnqueueRequestsFromMapFunc(sameName), builder.WithPredicates(r.editedByOthers(ctx))).
		WatchesRawSource(ctrlsource.Channel(r.enqueued, &handler.EnqueueRequestForObject{})).
		WatchesRawSource(ctrlsource.Channel(r.changed, handler.Funcs{GenericFunc: later})).
		WithOptions(controller.Options{RateLimiter: loadLimiter{limiter, r.loader, &r.slots}})
	for kind, object := range source.Kinds() {
		b = b.Watches(object, handler.EnqueueRequestsFromMapFunc(r.selectionsOf(kind)),
			builder.WithPredicates(source.Changed()))
	}
	return b.Complete(r)
}

// enqueueStored enqueues the names that the storage has archives of, once this process leads: one whose selection was deleted
// before is told by nothing else.
func (r *CatalogSelectionReconciler) enqueueStored(ctx context.Context) error {
	r.enqueue(ctx, r.artifacts.Stored()...)
	return nil
}

func indexSources(object client.Object) []string {
	cs := object.(*v1alpha1.CatalogSelection)
	var keys []string
	for _, ref := range cs.Spec.Sources {
		kind, key := guard.SourceKey(cs, ref)
		keys = append(keys, indexKey(kind, key))
	}
	return keys
}

func indexKey(kind string, key types.NamespacedName) string {
	return kind + "/" + key.String()
}

// selectionsOf maps a source of the given kind to the selections that name it.
func (r *CatalogSelectionReconciler) selectionsOf(kind string) handler.MapFunc {
	return func(ctx context.Context, object client.Object) []reconcile.Request {
		var selections v1alpha1.CatalogSelectionList
		key := indexKey(kind, client.ObjectKeyFromObject(object))
		if err := r.List(ctx, &selections, client.MatchingFields{sourceIndex: key}, client.UnsafeDisableDeepCopy); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "listing the selections of a source", "source", key)
			return nil
		}
		requests := make([]reconcile.Request, len(selections.Items))
		for i := range selections.Items {
			requests[i].NamespacedName = client.ObjectKeyFromObject(&selections.Items[i])
		}
		return requests
	}
}

// sameName maps an ExternalArtifact to the CatalogSelection of its name, which repairs it after an edit or a
// deletion by others, and takes the name when another owner releases it.
func sameName(_ context.Context, object client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(object)}}
}

// editedByOthers passes all events of ExternalArtifacts, except for what this process has written itself, and for
// the selections of other shards.
func (r *CatalogSelectionReconciler) editedByOthers(ctx context.Context) predicate.Predicate {
	edited := func(object client.Object) bool {
		artifact, ok := object.(*sourcev1.ExternalArtifact)
		return !ok || !r.artifacts.IsAsAnnounced(artifact) && !r.isElsewhere(ctx, client.ObjectKeyFromObject(artifact))
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return edited(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool { return edited(e.ObjectNew) },
		DeleteFunc: func(e event.DeleteEvent) bool { return !r.isElsewhere(ctx, client.ObjectKeyFromObject(e.Object)) },
	}
}

// isElsewhere reports whether a selection exists, this process does not watch it, and its storage has nothing of it.
func (r *CatalogSelectionReconciler) isElsewhere(ctx context.Context, key types.NamespacedName) bool {
	cs := &v1alpha1.CatalogSelection{}
	if r.cluster.Holders.View.Named(key) == nil || !apierrors.IsNotFound(r.Get(ctx, key, cs)) {
		return false
	}
	cs.Name, cs.Namespace = key.Name, key.Namespace
	return !r.artifacts.HasAny(cs)
}

// enqueue puts selections into the queue.
func (r *CatalogSelectionReconciler) enqueue(ctx context.Context, keys ...types.NamespacedName) {
	r.send(ctx, r.enqueued, keys)
}

// enqueueSoon puts selections into the queue after a moment: Flux applies the objects of an artifact one after the other, and one
// reconciliation looks at all of them.
func (r *CatalogSelectionReconciler) enqueueSoon(ctx context.Context, keys ...types.NamespacedName) {
	r.send(ctx, r.changed, keys)
}

func (r *CatalogSelectionReconciler) send(ctx context.Context, to chan event.GenericEvent, keys []types.NamespacedName) {
	for _, key := range keys {
		r.looked.Delete(key)
		cs := &v1alpha1.CatalogSelection{}
		cs.Name, cs.Namespace = key.Name, key.Namespace
		select {
		case to <- event.GenericEvent{Object: cs}:
		case <-ctx.Done():
			return
		}
	}
}

// later is how enqueueSoon adds to the queue, where many events become one request.
func later(_ context.Context, e event.GenericEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	const moment = 500 * time.Millisecond
	queue.AddAfter(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e.Object)}, moment)
}
