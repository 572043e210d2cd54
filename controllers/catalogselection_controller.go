// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"github.com/fluxcd/pkg/runtime/jitter"
	"github.com/fluxcd/pkg/runtime/logger"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/record"
)

// Reconcile publishes the artifact of one CatalogSelection from its spec and its sources.
func (r *CatalogSelectionReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	start := time.Now()
	defer r.slots.leave(ctx, req.NamespacedName)
	defer r.instances.pause(req.NamespacedName)()
	cs, err := r.get(ctx, req.NamespacedName)
	if apierrors.IsNotFound(err) {
		return r.removeOwned(ctx, req.NamespacedName)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	defer func() { r.recordMetrics(cs, start) }()

	if r.cluster.IsReplaced(cs) {
		r.leave(req.NamespacedName)
	}
	r.cluster.See(cs)
	if !cs.DeletionTimestamp.IsZero() {
		return retryConflict(r.finalize(ctx, cs))
	}
	if err := r.removeFinalizer(ctx, cs); err != nil {
		return retryConflict(err)
	}
	if err := r.cluster.Holders.View.Await(ctx, cs.UID, cs.ResourceVersion); err != nil {
		return ctrl.Result{}, err
	}
	if cs.Spec.Suspend {
		return r.suspended(ctx, cs)
	}
	a := newAttempt(cs, start, r.measured.Phases.Begin())
	err = r.reconcile(ctx, a)
	if a.left > 0 {
		r.measure(a, outcome{err: err})
		ctrl.LoggerFrom(ctx).V(logger.DebugLevel).Info("waits", "reason", err.Error())
		return ctrl.Result{RequeueAfter: a.left}, nil
	}
	return r.conclude(ctx, a, err)
}

// suspended reconciles a suspended selection: it publishes nothing. Kustomizations still apply the last artifact, so
// it still marks bypassed definitions and completes moves between selections.
func (r *CatalogSelectionReconciler) suspended(ctx context.Context, cs *v1alpha1.CatalogSelection) (ctrl.Result, error) {
	r.pushes.Forget(client.ObjectKeyFromObject(cs))
	r.loader.Forget(client.ObjectKeyFromObject(cs))
	r.measureSuspended(cs)
	logOutcome(ctx, "suspended", "revision", consumers.RevisionOf(cs))
	live, err := r.cluster.Observe(ctx, cs, r.outdated(ctx, cs), record.Live(cs))
	if err != nil {
		return ctrl.Result{}, err
	}
	marked, err := r.cluster.SyncMarks(ctx, cs, live)
	r.measureMarks(cs, marked, err)
	return ctrl.Result{RequeueAfter: marked.Again}, err
}

// conclude updates the marks in the cluster and reports the outcome. It runs whether or not the selection was
// published; err is the error of the publication.
func (r *CatalogSelectionReconciler) conclude(ctx context.Context, a *attempt, err error) (ctrl.Result, error) {
	cs := a.selection
	applied, kept := conditions.Get(cs, v1alpha1.AppliedCondition), conditions.Get(cs, v1alpha1.KeptCondition) // unless the cluster can be observed
	marked, err, markErr := r.look(ctx, a, err)
	if ctx.Err() != nil {
		// The controller is stopping: the error is no state of the selection.
		return ctrl.Result{}, ctx.Err()
	}
	if isConflict(err) {
		return retryConflict(err)
	}
	r.measureMarks(cs, marked, markErr)
	if markErr == nil {
		cs.Status = marked.In(&cs.Status)
		kept = r.cluster.Departures.Kept(cs, a.live, a.kept)
		applied = r.appliedBy(a.live.Consumers, cs)
	}
	served := cs.Status.Artifact != nil && cs.Status.Withheld == "" && !a.isOld() && (err == nil || r.artifacts.Intact(cs))
	o := decide(err, cs, served)
	if isWaiting(err) {
		o.after = waitRetry(a)
		if left := r.silence(a); left > 0 && isReady(cs) {
			o.silent, o.after = true, left
		}
	}
	o.names, o.applied, o.kept, o.pushed, o.sources = a.names, applied, kept, r.pushed(a), r.sources.Readiness(ctx, cs)
	o.requeueWithin(marked.Again)
	if a.waitsSince.IsZero() {
		r.loader.Forget(client.ObjectKeyFromObject(cs)) // what was loaded for an older spec
	}
	result, err := r.finish(ctx, a, o)
	if markErr != nil {
		return ctrl.Result{}, errors.Join(err, markErr)
	}
	return result, err
}

// look updates the claim and the marks of a selection by what is in the cluster. err is the error of the publication, or the conflict that
// look finds. It notes whether nothing is left to do until the cluster changes, unless what it finds is not written.
func (r *CatalogSelectionReconciler) look(ctx context.Context, a *attempt, err error) (marked cluster.Marked, _, markErr error) {
	cs, key := a.selection, client.ObjectKeyFromObject(a.selection)
	r.looked.Store(key, true)
	defer func() {
		if err != nil && !isWaiting(err) || markErr != nil || marked.Again > 0 {
			r.looked.Delete(key)
		}
	}()
	live, markErr := r.cluster.Observe(ctx, cs, a.isOld(), a.published())
	if markErr != nil {
		return marked, err, markErr
	}
	a.live = live
	if a.position, markErr = r.cluster.Holders.PositionOf(ctx, cs, live, live.Published); markErr != nil {
		return marked, err, markErr
	}
	a.claim(err)
	err = r.yield(ctx, a, err)
	cs.Status.Consumers = live.Consumers.Statuses()
	marked, markErr = r.cluster.SyncMarks(ctx, cs, live)
	return marked, err, markErr
}

// appliedBy returns the condition Applied.
func (r *CatalogSelectionReconciler) appliedBy(consumed consumers.Consumers, cs *v1alpha1.CatalogSelection) *metav1.Condition {
	applied := consumed.Applied(consumers.RevisionOf(cs), r.publishedFiles(cs), cs.Spec.Patches)
	if cs.Status.Artifact != nil && cs.Status.Withheld == "" {
		consumed.Remind(applied, consumers.RevisionOf(cs), r.now().Sub(r.edits.published(cs, r.now())))
	}
	return applied
}

// pushed enqueues the push of the artifact, and returns the condition Pushed. What the status names is not pushed while
// something newer was published.
func (r *CatalogSelectionReconciler) pushed(a *attempt) *metav1.Condition {
	if a.isOld() && a.selection.Spec.Push != nil {
		return conditions.Get(a.selection, v1alpha1.PushedCondition)
	}
	last, condition := r.pushes.Sync(a.selection, a.record)
	a.selection.Status.Push = last
	return condition
}

// get reads the selection from the cache, or past it if the cache may lack the last write of this controller. The
// status names the served artifact: with an outdated status, keepServing would announce the artifact before the
// last one, and Flux would apply it. Without the last states of instances, a render would end in a conflict.
func (r *CatalogSelectionReconciler) get(ctx context.Context, key types.NamespacedName) (*v1alpha1.CatalogSelection, error) {
	cs := &v1alpha1.CatalogSelection{}
	if err := r.Get(ctx, key, cs); err != nil {
		return nil, err
	}
	last, ok := r.lastPublication(cs)
	if ok && equality.Semantic.DeepEqual(&last.artifact, cs.Status.Artifact) && !r.lacksPatch(cs) {
		return cs, nil
	}
	live := &v1alpha1.CatalogSelection{}
	return live, r.apiReader.Get(ctx, key, live)
}

// lacksPatch reports whether a selection, as the cache has it, lacks the last patch of its status: its version is the one that was patched,
// or an older one.
func (r *CatalogSelectionReconciler) lacksPatch(cs *v1alpha1.CatalogSelection) bool {
	replaced, ok := r.replaced.Load(client.ObjectKeyFromObject(cs))
	if !ok {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(cs.ResourceVersion, replaced.(string))
	return err != nil || order <= 0
}

// reconcile publishes the selection, and keeps serving the last artifact if that fails.
func (r *CatalogSelectionReconciler) reconcile(ctx context.Context, a *attempt) error {
	if err := r.keepServing(ctx, a); err != nil {
		return err
	}
	err := r.publish(ctx, a)
	if a.left = r.patience(ctx, a); a.left > 0 {
		return err
	}
	if err != nil && !a.served && !a.isOld() && a.selection.Status.Artifact != nil && ctx.Err() == nil {
		if lost := r.rebuild(ctx, a); lost != nil && !isWaiting(lost) {
			a.note("lostArchive", "cannot be rendered again: "+lost.Error())
		}
		a.left = r.patience(ctx, a) // the rebuild may wait, too
	}
	return err
}

// keepServing repairs the ExternalArtifact of the last artifact before anything else can fail: a catalog that
// became invalid must not stop the last artifact from being served. It does nothing before the first publication,
// if the archive is lost, and if something newer was published than the status knows.
func (r *CatalogSelectionReconciler) keepServing(ctx context.Context, a *attempt) (err error) {
	if a.newer, err = r.artifacts.Newer(ctx, a.selection, a.record.PublishedRevisions(a.selection)); err != nil {
		return err
	}
	if a.newer != nil || a.selection.Status.Artifact == nil {
		return nil
	}
	if a.behind, err = r.isBehind(ctx, a); err != nil || a.behind {
		return err
	}
	if err := r.artifacts.Unstage(a.selection); err != nil || !r.artifacts.Intact(a.selection) {
		return err
	}
	r.artifacts.Storage.SetArtifactURL(a.selection.Status.Artifact)
	err = r.artifacts.Announce(ctx, a.selection)
	a.served = err == nil
	return err
}

// isBehind reports whether a consumer has applied a revision that the status does not know, while nothing is announced: the
// storage was restored together with the status, and the ExternalArtifact without its own.
func (r *CatalogSelectionReconciler) isBehind(ctx context.Context, a *attempt) (bool, error) {
	if a.selection.Status.Withheld != "" { // nothing is announced
		return false, nil
	}
	announced, err := r.artifacts.IsAnnounced(ctx, a.selection)
	if announced || err != nil {
		return false, err
	}
	consumed, err := r.cluster.Kustomizations.Of(ctx, a.selection)
	return err == nil && !consumed.AppliedOnly(a.record.PublishedRevisions(a.selection)), err
}

// finish writes the status, sends events, collects garbage and returns when to reconcile again.
func (r *CatalogSelectionReconciler) finish(ctx context.Context, a *attempt, o outcome) (ctrl.Result, error) {
	cs := a.selection
	o.report(cs)
	if requested, ok := meta.ReconcileAnnotationValue(cs.Annotations); ok {
		cs.Status.SetLastHandledReconcileRequest(requested)
	}
	if err := r.writeStatus(ctx, a); err != nil {
		return retryConflict(err)
	}
	news := events{r.EventRecorder, a.found, cs}
	news.published(o)
	news.sources()
	news.pushed()
	news.sourceChanges(a.sourceChanges)
	r.measure(a, o)
	a.log(ctx, o)
	if o.err == nil { // or the ExternalArtifact may still name an archive of before
		r.collectGarbage(ctx, cs)
	}
	if o.retry == backoff {
		return ctrl.Result{}, o.err
	}
	return jitter.JitteredRequeueInterval(ctrl.Result{RequeueAfter: o.requeueAfter(cs.Spec.Interval)}), nil
}
