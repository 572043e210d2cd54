package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	helper "github.com/fluxcd/pkg/runtime/controller"
	"github.com/fluxcd/pkg/runtime/jitter"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/artifacts"
	"github.com/winnow-dev/winnow/controllers/cluster"
	"github.com/winnow-dev/winnow/controllers/pushes"
	"github.com/winnow-dev/winnow/controllers/source"
)

// CatalogSelectionReconciler reconciles CatalogSelections. The zero value is not usable; call New.
type CatalogSelectionReconciler struct {
	client.Client
	record.EventRecorder
	helper.Metrics

	// apiReader reads past the cache.
	apiReader    client.Reader
	fieldManager string
	sources      *source.Sources
	artifacts    *artifacts.Artifacts
	cluster      *cluster.Cluster
	pushes       *pushes.Pushes

	// settleDelay is how old an edit has to be that takes something away.
	settleDelay time.Duration
	// publishTimeout is shorter in tests; zero stands for the constant.
	publishTimeout time.Duration
	// enqueued puts selections into the queue.
	enqueued chan event.GenericEvent
	// published maps types.NamespacedName to what this process published last.
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
	defer r.cluster.Evaluated(ctx, cs)
	if err := r.addFinalizer(ctx, cs); err != nil {
		return quietConflict(err)
	}
	a := newAttempt(cs, start)
	return r.conclude(ctx, a, r.reconcile(ctx, a))
}

// suspended publishes nothing. Kustomizations go on, so bypassed definitions have to be marked all the
// same, and moves end.
func (r *CatalogSelectionReconciler) suspended(ctx context.Context, cs *v1alpha1.CatalogSelection) (ctrl.Result, error) {
	r.pushes.Forget(client.ObjectKeyFromObject(cs))
	r.cluster.Withdraw(ctx, cs)
	ctrl.LoggerFrom(ctx).Info("reconciliation is suspended for this object")
	around, err := r.cluster.Observe(ctx, cs)
	if err != nil {
		return ctrl.Result{}, err
	}
	again, err := r.cluster.SyncMarks(ctx, cs, around)
	return ctrl.Result{RequeueAfter: again}, err
}

// conclude does what is due on the cluster, whether or not the selection was published, and reports
// both. err says why it was not.
func (r *CatalogSelectionReconciler) conclude(ctx context.Context, a *attempt, err error) (ctrl.Result, error) {
	cs := a.selection
	applied := conditions.Get(cs, v1alpha1.AppliedCondition) // until something better is known
	var again time.Duration
	around, markErr := r.cluster.Observe(ctx, cs)
	if markErr == nil {
		a.around = around
		err = r.yield(ctx, a, err)
		again, markErr = r.cluster.SyncMarks(ctx, cs, around)
	}
	if ctx.Err() != nil {
		// The controller is stopping: this says nothing about the selection.
		return ctrl.Result{}, ctx.Err()
	}
	if isConflict(err) {
		return quietConflict(err)
	}
	if markErr == nil {
		applied = around.Consumers.Applied(cluster.RevisionOf(cs), r.publishedFiles(cs))
	}
	served := cs.Status.Artifact != nil && cs.Status.Withheld == "" && (err == nil || r.artifacts.Intact(cs))
	o := decide(err, cs, served)
	o.names, o.applied, o.pushed, o.sources = a.names, applied, r.pushes.Sync(cs, a.record), r.sources.Readiness(ctx, cs)
	o.soon(again)
	result, err := r.finish(ctx, a, o)
	if markErr != nil {
		return ctrl.Result{}, errors.Join(err, markErr)
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
	return live, r.apiReader.Get(ctx, key, live)
}

// reconcile publishes, and otherwise keeps serving what was published last.
func (r *CatalogSelectionReconciler) reconcile(ctx context.Context, a *attempt) error {
	if err := r.keepServing(ctx, a); err != nil {
		return err
	}
	err := r.publish(ctx, a)
	if err != nil && !waits(err) {
		r.cluster.Withdraw(ctx, a.selection)
	}
	if err != nil && !a.served && a.selection.Status.Artifact != nil && ctx.Err() == nil {
		if lost := r.rebuild(ctx, a); lost != nil {
			ctrl.LoggerFrom(ctx).Info("the lost archive cannot be rendered again", "reason", lost.Error())
		}
	}
	return err
}

// keepServing repairs the ExternalArtifact of the last good artifact, whatever comes after:
// a catalog that became invalid must not take down what is served. Nothing is served before the first
// publication, and where the archive itself is lost and has to be rendered again.
func (r *CatalogSelectionReconciler) keepServing(ctx context.Context, a *attempt) error {
	if a.selection.Status.Artifact == nil {
		_, err := r.artifacts.Find(ctx, a.selection)
		return client.IgnoreNotFound(err)
	}
	if !r.artifacts.Intact(a.selection) {
		return nil
	}
	r.artifacts.Storage.SetArtifactURL(a.selection.Status.Artifact)
	err := r.artifacts.Announce(ctx, a.selection)
	a.served = err == nil
	return err
}

// finish writes the status, sends events, collects garbage and says when to come back.
func (r *CatalogSelectionReconciler) finish(ctx context.Context, a *attempt, o outcome) (ctrl.Result, error) {
	cs := a.selection
	o.report(cs)
	if requested, ok := meta.ReconcileAnnotationValue(cs.Annotations); ok {
		cs.Status.SetLastHandledReconcileRequest(requested)
	}
	if err := r.writeStatus(ctx, a); err != nil {
		return quietConflict(err)
	}
	news := events{r.EventRecorder, a.found, cs}
	news.published(o)
	news.sources()
	news.pushed()
	news.sourceChanges(a.sourceChanges)
	if cs.Status.Artifact != nil {
		r.collectGarbage(ctx, cs)
	}
	if o.retry == backoff {
		return ctrl.Result{}, o.err
	}
	if o.err != nil {
		ctrl.LoggerFrom(ctx).Info("not published", "reason", o.reason, "message", o.message)
	}
	return jitter.JitteredRequeueInterval(ctrl.Result{RequeueAfter: o.requeueAfter(cs.Spec.Interval)}), nil
}

// writeStatus writes the whole status in one patch, none if nothing changed since it was written last. The
// optimistic lock keeps a decision that was made on an outdated object from being written.
func (r *CatalogSelectionReconciler) writeStatus(ctx context.Context, a *attempt) error {
	if equality.Semantic.DeepEqual(a.written.Status, a.selection.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(a.written, client.MergeFromWithOptimisticLock{})
	err := r.Status().Patch(ctx, a.selection, patch, client.FieldOwner(r.fieldManager))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("patching the status: %w", err)
	}
	a.selection.DeepCopyInto(a.written)
	return nil
}

// lastPublication returns what this process published last for the selection.
func (r *CatalogSelectionReconciler) lastPublication(cs *v1alpha1.CatalogSelection) (publication, bool) {
	last, ok := r.published.Load(client.ObjectKeyFromObject(cs))
	if !ok {
		return publication{}, false
	}
	p := last.(publication)
	return p, p.uid == cs.UID
}

// publishedFiles returns where the applications of the artifact come from, as far as this process knows.
func (r *CatalogSelectionReconciler) publishedFiles(cs *v1alpha1.CatalogSelection) cluster.Files {
	last, ok := r.lastPublication(cs)
	if !ok || last.artifact.Revision != cluster.RevisionOf(cs) {
		return nil
	}
	return last.files
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
