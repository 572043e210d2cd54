// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"fmt"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/holds"
	"github.com/winnow-dev/winnow/controllers/transfers"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/mention"
)

// retry says when a selection is reconciled again without an event.
type retry int

const (
	// never requeues only on the next change of the spec or of a source.
	never retry = iota
	// atInterval requeues after spec.interval, jittered.
	atInterval
	// backoff requeues with exponential backoff.
	backoff
)

// outcome is the result of a reconciliation for the status, the events and the queue.
type outcome struct {
	// err is why nothing was published, or nil.
	err             error
	reason, message string
	ready, stalled  bool
	// held describes the change that a safeguard holds, or is nil.
	held *v1alpha1.HeldStatus
	// applied is the condition Applied without its type, or nil.
	applied *metav1.Condition
	// names are the names in the spec that match nothing; with nil, the condition Unmatched stays as it is.
	names *unmatchedNames
	// pushed is the condition Pushed without its type, or nil.
	pushed *metav1.Condition
	// sources is the condition SourceReady without its type, or nil.
	sources *metav1.Condition
	// kept is the condition Kept without its type, or nil.
	kept *metav1.Condition
	// quiet suppresses the warning event: the state is expected while a cluster comes up.
	quiet bool
	// waiting makes Ready Unknown: the render waits for a state that is expected soon. With keepsReady, Ready stays.
	waiting, keepsReady bool
	// silent leaves the conditions as they are: the wait is short, and the selection is Ready.
	silent bool
	retry  retry
	// after is the longest delay before the next reconciliation; with zero, retry decides alone.
	after time.Duration
}

// decide is the only place that turns an error into an outcome:
//
//	reason                                        Ready  also         retry
//	(no error)                                    True                interval
//	SourceNotReady                                False  Reconciling  interval, and the watch
//	AccessDenied, Invalid*, NameConflict,
//	ContractViolated                              False  Stalled      next change
//	VerificationFailed                            False  Stalled      next change of the source
//	Conflict, SourceLoop                          False  Stalled      next change of the other, and a minute
//	SourcesUnsettled, Handover                    Unknown Reconciling soon
//	Progressing: sources are being loaded, or
//	others of the namespace are rendered          as it is Reconciling once they are; Ready Unknown if it proves nothing of this spec;
//	                                                                   nothing is reported while outcome.silent
//	a safeguard, the last good one is served      True   Held         interval; a minute for PruneNotDisabled
//	a safeguard otherwise                         False  Held Stalled the same
//	FetchFailed, StorageFailed, TimedOut,
//	QuotaExceeded, NamespaceTerminating           False  Reconciling  backoff; the next attempt of a host that does not answer
//
// served reports whether the storage has the artifact that the status of cs names.
func decide(err error, cs *v1alpha1.CatalogSelection, served bool) outcome {
	if err == nil {
		return outcome{reason: v1alpha1.SucceededReason, message: readyMessage(cs), ready: true, retry: atInterval}
	}
	o := outcome{err: err, reason: failure.ReasonOf(err), message: err.Error()}
	switch o.reason {
	case v1alpha1.SourceNotReadyReason:
		o.retry, o.quiet = atInterval, true
	case v1alpha1.FetchFailedReason, v1alpha1.StorageFailedReason, v1alpha1.TimedOutReason,
		v1alpha1.QuotaExceededReason, v1alpha1.NamespaceTerminatingReason:
		o.retry = backoff
	case v1alpha1.SourcesUnsettledReason, v1alpha1.HandoverReason:
		o.waiting, o.quiet, o.retry, o.after = true, true, atInterval, settleRetry
	case v1alpha1.ProgressingReason:
		o.waiting, o.quiet, o.retry = true, true, atInterval
		o.keepsReady = served || isCurrent(conditions.Get(cs, meta.ReadyCondition), cs)
	case v1alpha1.ConflictReason, v1alpha1.SourceLoopReason, v1alpha1.PruneNotDisabledReason:
		o.stalled, o.retry, o.after = true, atInterval, conflictRetry
	default:
		o.stalled = true
	}
	o.awaitTime()
	if held, ok := errors.AsType[*holds.Error](err); ok {
		o.held, o.ready, o.stalled, o.retry = held.Status(), served, !served, atInterval
		if !served && !held.IsOutdated() && cs.Status.Artifact != nil && cs.Status.Withheld == "" {
			o.message += "; the archive that was published last is lost, and cannot be rendered again"
		}
	}
	return o
}

// awaitTime sets the next attempt to the time that the error names, if it does.
func (o *outcome) awaitTime() {
	if unsettled, ok := errors.AsType[*unsettledError](o.err); ok {
		o.after = unsettled.after
	}
	if unanswered, ok := errors.AsType[*transfers.UnansweredError](o.err); ok && o.retry == backoff {
		o.retry, o.after = atInterval, max(time.Second, unanswered.In)
	}
}

// isCurrent reports whether a condition is of the spec of cs, and has an opinion.
func isCurrent(c *metav1.Condition, cs *v1alpha1.CatalogSelection) bool {
	return c != nil && c.Status != metav1.ConditionUnknown && c.ObservedGeneration == cs.Generation
}

// isReady reports whether Ready is True for the spec of cs.
func isReady(cs *v1alpha1.CatalogSelection) bool {
	return conditions.IsTrue(cs, meta.ReadyCondition) && isCurrent(conditions.Get(cs, meta.ReadyCondition), cs)
}

func readyMessage(cs *v1alpha1.CatalogSelection) string {
	s, a := cs.Status.Summary, cs.Status.Artifact
	if s == nil || a == nil {
		return ""
	}
	what := fmt.Sprintf("%s, revision %s", published(cs, s), bounds.ShortChecksum(a.Revision))
	switch {
	case !consumers.Awaited(cs):
		return "published " + what
	case cs.Spec.Push != nil:
		return "rendered for spec.push " + what
	}
	// Ready is True all the same: where one Kustomization applies the selection and waits for it, the consumer may be
	// applied only after that.
	return "nothing is served until a Kustomization uses the ExternalArtifact; rendered " + what
}

// published counts what the artifact has.
func published(cs *v1alpha1.CatalogSelection, s *v1alpha1.Summary) string {
	applications, instances := fmt.Sprintf("%d of %d applications", s.Selected, s.Available), fmt.Sprintf("%d instances", s.Instances)
	if s.Instances == 1 {
		instances = "1 instance"
	}
	switch {
	case cs.Spec.Definitions == v1alpha1.DefinitionsOmit:
		return instances
	case s.Instances > 0:
		return applications + " and " + instances
	}
	return applications
}

// report writes the outcome into the conditions of the selection.
func (o outcome) report(cs *v1alpha1.CatalogSelection) {
	message := bounds.Truncate(o.message, bounds.ConditionMessage)
	o.reportHeld(cs, message)
	if o.names != nil {
		reportCondition(cs, v1alpha1.UnmatchedCondition, o.names.condition())
	}
	reportCondition(cs, v1alpha1.AppliedCondition, o.applied)
	if conditions.IsTrue(cs, v1alpha1.InstancesReadyCondition) { // for the artifact before, perhaps
		reportCondition(cs, v1alpha1.InstancesReadyCondition, instancesReady(cs))
	}
	reportCondition(cs, v1alpha1.PushedCondition, o.pushed)
	reportCondition(cs, v1alpha1.SourceReadyCondition, o.sources)
	reportCondition(cs, v1alpha1.KeptCondition, o.kept)
	// Only conditions that are not set again below are deleted, so that retries keep the transition times.
	if o.ready || o.stalled {
		conditions.Delete(cs, meta.ReconcilingCondition)
	}
	if o.ready || !o.stalled {
		conditions.Delete(cs, meta.StalledCondition)
	}
	switch {
	case o.silent:
	case o.ready && o.held != nil:
		conditions.MarkTrue(cs, meta.ReadyCondition, v1alpha1.SucceededReason, "%s; a change is held%s",
			readyMessage(cs), o.notes())
	case o.waiting:
		conditions.MarkReconciling(cs, o.reason, "%s", message)
		if !o.keepsReady {
			conditions.MarkUnknown(cs, meta.ReadyCondition, o.reason, "%s", message)
		}
	case o.ready:
		conditions.MarkTrue(cs, meta.ReadyCondition, o.reason, "%s%s", message, o.notes())
	case o.stalled:
		conditions.MarkStalled(cs, o.reason, "%s", message)
		conditions.MarkFalse(cs, meta.ReadyCondition, o.reason, "%s", message)
	default:
		conditions.MarkReconciling(cs, meta.ProgressingWithRetryReason, "%s", message)
		conditions.MarkFalse(cs, meta.ReadyCondition, o.reason, "%s", message)
	}
	cs.Status.ObservedGeneration = cs.Generation
}

// reportHeld writes the condition Held, and status.held.
func (o outcome) reportHeld(cs *v1alpha1.CatalogSelection, message string) {
	const undecided = "whether a change of this spec is held is not decided yet: "
	switch {
	case o.held != nil:
		conditions.MarkTrue(cs, v1alpha1.HeldCondition, o.reason, "%s", message)
		cs.Status.Held = o.held
	case o.reason == v1alpha1.SourcesUnsettledReason, o.waiting && holdOfEarlierSpec(cs):
		// status.held keeps what was held, because the lines that name a part of it count for as long.
		conditions.MarkUnknown(cs, v1alpha1.HeldCondition, o.reason, "%s", bounds.Truncate(undecided+message, bounds.ConditionMessage))
	case o.ready || o.stalled || !conditions.Has(cs, v1alpha1.HeldCondition):
		conditions.MarkFalse(cs, v1alpha1.HeldCondition, v1alpha1.NothingHeldReason, "no change is held")
		cs.Status.Held = nil
	default:
		// A hold stays while a source or the storage fails. Whether a newer generation is held is unknown
		// then, so the condition keeps the older observedGeneration.
	}
}

// holdOfEarlierSpec reports whether a hold was decided for another generation than the present one.
func holdOfEarlierSpec(cs *v1alpha1.CatalogSelection) bool {
	return conditions.IsUnknown(cs, v1alpha1.HeldCondition) ||
		conditions.IsTrue(cs, v1alpha1.HeldCondition) && conditions.GetObservedGeneration(cs, v1alpha1.HeldCondition) != cs.Generation
}

// notes returns what Ready adds to its message: while a source fails and the last artifact is served, and while objects
// that left are kept.
func (o outcome) notes() string {
	notes := ""
	if o.sources != nil && o.sources.Status == metav1.ConditionFalse {
		notes += "; a source fails, see " + v1alpha1.SourceReadyCondition
	}
	if o.kept != nil {
		notes += "; objects that leave are kept, see " + v1alpha1.KeptCondition
	}
	return notes
}

// reportCondition sets the condition of the type, or removes it if condition is nil.
func reportCondition(cs *v1alpha1.CatalogSelection, conditionType string, condition *metav1.Condition) {
	if condition == nil {
		conditions.Delete(cs, conditionType)
		return
	}
	typed := *condition
	typed.Type = conditionType
	conditions.Set(cs, &typed)
}

// conflictRetry is the delay before a conflict is checked again, because a claim may have expired, and before a loop
// of sources is, which another selection may have ended.
const conflictRetry = time.Minute

// requeueWithin shortens the delay of the outcome to after, unless that is zero.
func (o *outcome) requeueWithin(after time.Duration) {
	if after > 0 && (o.after == 0 || after < o.after) {
		o.after = after
	}
}

// requeueAfter returns the delay before the next reconciliation without jitter, or zero for none.
func (o outcome) requeueAfter(interval metav1.Duration) time.Duration {
	switch {
	case o.retry == atInterval && o.after > 0:
		return min(o.after, interval.Duration)
	case o.retry == atInterval:
		return interval.Duration
	}
	return o.after
}

// unmatchedNames are the names in the spec that match nothing.
type unmatchedNames struct{ unmatched []mention.Unmatched }

// condition returns the condition Unmatched without its type, or nil if everything matches.
func (n *unmatchedNames) condition() *metav1.Condition {
	const listed = 20
	if len(n.unmatched) == 0 {
		return nil
	}
	message := "nothing in the catalogs matches " + excerpt.List(n.unmatched, listed, mention.Unmatched.String)
	return &metav1.Condition{
		Status: metav1.ConditionTrue, Reason: v1alpha1.NoMatchReason, Message: bounds.Truncate(message, bounds.ConditionMessage),
	}
}
