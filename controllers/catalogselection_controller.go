package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/artifact/storage"
	"github.com/fluxcd/pkg/runtime/conditions"
	helper "github.com/fluxcd/pkg/runtime/controller"
	"github.com/fluxcd/pkg/runtime/jitter"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster"
)

// CatalogSelectionReconciler reconciles CatalogSelections. All exported fields are required.
type CatalogSelectionReconciler struct {
	client.Client
	record.EventRecorder
	helper.Metrics

	// ControllerName is the field manager of all writes.
	ControllerName string
	// Storage holds the archives that are served.
	Storage *storage.Storage
	// Catalogs loads the catalogs of the sources.
	Catalogs *Catalogs
	// NoCrossNamespaceRefs refuses sources in other namespaces.
	NoCrossNamespaceRefs bool
	// Cluster knows what lives in this cluster.
	Cluster *cluster.Cluster
	// Pushes put what is rendered into registries.
	Pushes *Pushes
	// SettleDelay is how old an edit has to be that takes something away.
	SettleDelay time.Duration

	// APIReader reads past the cache.
	APIReader client.Reader

	// publishTimeout is shorter in tests; zero stands for the constant.
	publishTimeout time.Duration
	// woken puts selections into the queue.
	woken chan event.GenericEvent
	// published has, by types.NamespacedName, what this process published last.
	published sync.Map
	// edits are those that are not published yet.
	edits edits
}

// Reconcile brings one CatalogSelection to what its spec and its sources say.
func (r *CatalogSelectionReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	start := time.Now()
	cs, err := r.get(ctx, req.NamespacedName)
	if apierrors.IsNotFound(err) {
		return r.departed(ctx, req.NamespacedName)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	defer func() { r.recordMetrics(ctx, cs, start) }()

	switch {
	case !cs.DeletionTimestamp.IsZero():
		return quietConflict(r.finalize(ctx, cs))
	case cs.Spec.Suspend:
		return r.suspended(ctx, cs)
	}
	defer r.Cluster.Evaluated(ctx, cs)
	if err := r.addFinalizer(ctx, cs); err != nil {
		return quietConflict(err)
	}
	found, before := cs.DeepCopy(), cs.DeepCopy()
	this := &attempt{start: start}
	err = r.reconcile(ctx, before, cs, this)
	return r.conclude(ctx, found, before, cs, this, err)
}

// suspended publishes nothing. Kustomizations go on, so bypassed definitions have to be marked all the
// same, and moves end.
func (r *CatalogSelectionReconciler) suspended(ctx context.Context, cs *v1alpha1.CatalogSelection) (ctrl.Result, error) {
	r.Pushes.forget(client.ObjectKeyFromObject(cs))
	r.Cluster.Withdraw(ctx, cs)
	ctrl.LoggerFrom(ctx).Info("reconciliation is suspended for this object")
	around, err := r.Cluster.Observe(ctx, cs)
	if err != nil {
		return ctrl.Result{}, err
	}
	again, err := r.Cluster.SyncMarks(ctx, cs, around)
	return ctrl.Result{RequeueAfter: again}, err
}

// conclude does what is due on the cluster, whether or not the selection was published, and reports
// both. err says why it was not.
func (r *CatalogSelectionReconciler) conclude(ctx context.Context, found, before, cs *v1alpha1.CatalogSelection,
	this *attempt, err error) (ctrl.Result, error) {
	applied := conditions.Get(cs, v1alpha1.AppliedCondition) // until something better is known
	var again time.Duration
	around, attended := r.Cluster.Observe(ctx, cs)
	if attended == nil {
		err = r.yield(ctx, before, cs, around, err)
		again, attended = r.Cluster.SyncMarks(ctx, cs, around)
	}
	if ctx.Err() != nil {
		// The controller is stopping: this says nothing about the selection.
		return ctrl.Result{}, ctx.Err()
	}
	if isConflict(err) {
		return quietConflict(err)
	}
	if attended == nil {
		applied = around.Consumers.Applied(cluster.RevisionOf(cs), r.publishedFiles(cs))
	}
	served := cs.Status.Artifact != nil && cs.Status.Withheld == "" && (err == nil || r.intact(cs))
	o := decide(err, cs, served)
	o.names, o.applied, o.pushed, o.sources = this.names, applied, r.push(cs), r.sourceReady(ctx, cs)
	o.soon(again)
	result, err := r.finish(ctx, found, before, cs, o, err)
	if attended != nil {
		return ctrl.Result{}, errors.Join(err, attended)
	}
	return result, err
}

// conflictDelay is the time after which an object that another client changed in the meantime
// is looked at again.
const conflictDelay = 200 * time.Millisecond

// isConflict reports whether the cache was behind the API server: an object was changed, or was
// created, in the meantime.
func isConflict(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
}

// quietConflict comes back soon after a conflict, which is not an error worth a log line.
func quietConflict(err error) (ctrl.Result, error) {
	if isConflict(err) {
		return ctrl.Result{RequeueAfter: conflictDelay}, nil
	}
	return ctrl.Result{}, err
}

// get reads the selection from the cache, unless the cache may be behind what this controller
// wrote. The status says what is served: with an outdated one, keepServing would put the
// artifact before the last one back, and Flux would apply it.
func (r *CatalogSelectionReconciler) get(ctx context.Context, key types.NamespacedName) (*v1alpha1.CatalogSelection, error) {
	cs := &v1alpha1.CatalogSelection{}
	if err := r.Get(ctx, key, cs); err != nil {
		return nil, err
	}
	last, ok := r.lastPublication(cs)
	if ok && equality.Semantic.DeepEqual(&last.artifact, cs.Status.Artifact) {
		return cs, nil
	}
	live := &v1alpha1.CatalogSelection{}
	return live, r.APIReader.Get(ctx, key, live)
}

// reconcile runs the steps; what they find out goes into the status of cs. before moves on
// with every status that is written.
func (r *CatalogSelectionReconciler) reconcile(ctx context.Context, before, cs *v1alpha1.CatalogSelection, this *attempt) error {
	served, err := r.keepServing(ctx, cs)
	if err != nil {
		return fail(v1alpha1.StorageFailedReason, err)
	}
	err = r.publishInTime(ctx, before, cs, served, this)
	if err != nil && !waits(err) {
		r.Cluster.Withdraw(ctx, cs)
	}
	if err != nil && !served && cs.Status.Artifact != nil && ctx.Err() == nil {
		if lost := r.rebuild(ctx, before, cs); lost != nil {
			ctrl.LoggerFrom(ctx).Info("the lost archive cannot be rendered again", "reason", lost.Error())
		}
	}
	return err
}

// keepServing repairs the ExternalArtifact of the last good artifact, whatever comes after:
// a catalog that became invalid must not take down what is served. It returns false where
// there is nothing to serve, or where the archive itself is lost and has to be rendered again.
func (r *CatalogSelectionReconciler) keepServing(ctx context.Context, cs *v1alpha1.CatalogSelection) (bool, error) {
	if cs.Status.Artifact == nil {
		_, err := r.externalArtifact(ctx, cs)
		return false, client.IgnoreNotFound(err)
	}
	if !r.intact(cs) {
		return false, nil
	}
	r.Storage.SetArtifactURL(cs.Status.Artifact)
	if err := r.announce(ctx, cs); err != nil {
		return false, err
	}
	return true, nil
}

// finish writes the status, sends events, collects garbage and says when to come back. Events
// tell what changed since cs was found; before has the status that was written in between.
func (r *CatalogSelectionReconciler) finish(ctx context.Context, found, before, cs *v1alpha1.CatalogSelection,
	o outcome, err error) (ctrl.Result, error) {
	o.report(cs)
	if requested, ok := meta.ReconcileAnnotationValue(cs.Annotations); ok {
		cs.Status.SetLastHandledReconcileRequest(requested)
	}
	if patchErr := r.patchStatus(ctx, before, cs); patchErr != nil {
		return quietConflict(patchErr)
	}
	r.sendEvents(found, cs, o)
	r.tellSourceReady(found, cs)
	r.tellPushed(found, cs)
	r.tellSourceChanges(found, cs)
	if cs.Status.Artifact != nil {
		r.collectGarbage(ctx, cs)
	}
	if o.retry == backoff {
		return ctrl.Result{}, err
	}
	if err != nil {
		ctrl.LoggerFrom(ctx).Info("not published", "reason", o.reason, "message", o.message)
	}
	return jitter.JitteredRequeueInterval(ctrl.Result{RequeueAfter: o.requeueAfter(cs.Spec.Interval)}), nil
}

// patchStatus writes the whole status in one patch, none if nothing changed. The optimistic
// lock keeps a decision that was made on an outdated object from being written.
func (r *CatalogSelectionReconciler) patchStatus(ctx context.Context, before, cs *v1alpha1.CatalogSelection) error {
	if equality.Semantic.DeepEqual(before.Status, cs.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	err := r.Status().Patch(ctx, cs, patch, client.FieldOwner(r.ControllerName))
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("patching the status: %w", err)
	}
	return nil
}

func (r *CatalogSelectionReconciler) addFinalizer(ctx context.Context, cs *v1alpha1.CatalogSelection) error {
	before := cs.DeepCopy()
	if !controllerutil.AddFinalizer(cs, v1alpha1.CatalogSelectionFinalizer) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Patch(ctx, cs, patch, client.FieldOwner(r.ControllerName)); err != nil {
		return fmt.Errorf("adding the finalizer: %w", err)
	}
	return nil
}

func (r *CatalogSelectionReconciler) recordMetrics(ctx context.Context, cs *v1alpha1.CatalogSelection, start time.Time) {
	r.RecordSuspend(ctx, cs, cs.Spec.Suspend)
	r.RecordReadiness(ctx, cs)
	r.RecordReconciling(ctx, cs)
	r.RecordStalled(ctx, cs)
	for _, condition := range []string{
		v1alpha1.HeldCondition, v1alpha1.SourceReadyCondition, v1alpha1.UnmatchedCondition,
		v1alpha1.AppliedCondition, v1alpha1.PushedCondition,
	} {
		if r.IsDelete(cs) {
			r.DeleteCondition(ctx, cs, condition)
			continue
		}
		r.RecordCondition(ctx, cs, condition)
	}
	r.RecordDuration(ctx, cs, start)
}
