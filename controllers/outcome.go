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
	"github.com/winnow-dev/winnow/controllers/cluster"
)

// failure is an error of a step of the reconciliation with the reason that it is reported by.
type failure struct {
	reason string
	err    error
}

func (f *failure) Error() string  { return f.err.Error() }
func (f *failure) Reason() string { return f.reason }
func (f *failure) Unwrap() error  { return f.err }

// fail gives err a reason, unless it has one already; nil stays nil.
func fail(reason string, err error) error {
	var known reasoner
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &failure{reason: reason, err: err}
}

// reasonOf returns the reason of an error of a step. An error without one is a failure of the API
// server or of the storage.
func reasonOf(err error) string {
	var known reasoner
	if errors.As(err, &known) {
		return known.Reason()
	}
	return v1alpha1.StorageFailedReason
}

// reasoner is an error that knows its reason.
type reasoner interface {
	error
	Reason() string
}

// retry says when a selection is reconciled again without an event.
type retry int

const (
	// never: the next change of the spec or of a source brings it back.
	never retry = iota
	// atInterval: after spec.interval, jittered.
	atInterval
	// backoff: soon, then ever later.
	backoff
)

// outcome is what a reconciliation means for status, events and the queue.
type outcome struct {
	reason, message string
	ready, stalled  bool
	// held is what a safeguard holds, nil without.
	held *v1alpha1.HeldStatus
	// applied is the condition Applied without its type, nil without.
	applied *metav1.Condition
	// names are those of the spec that match nothing; nil where that is not known anew, and the
	// condition Unmatched stays as it is.
	names *unmatchedNames
	// pushed is the condition Pushed, in the same way.
	pushed *metav1.Condition
	// sources is the condition SourceReady without its type.
	sources *metav1.Condition
	// quiet suppresses the warning event: the state is expected while a cluster comes up.
	quiet bool
	// waiting is true while a render waits for something that is expected to come.
	waiting bool
	retry   retry
	// after is when to come back at the latest; zero leaves that to retry.
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
//	Conflict                                      False  Stalled      next change of the other, and a minute
//	SourcesUnsettled, Handover                    Unknown Reconciling soon
//	a safeguard, the last good one is served      True   Held         interval
//	a safeguard otherwise                         False  Held Stalled interval
//	FetchFailed, StorageFailed, TimedOut          False  Reconciling  backoff
//
// served says that the storage has the artifact in the status of cs.
func decide(err error, cs *v1alpha1.CatalogSelection, served bool) outcome {
	if err == nil {
		return outcome{reason: v1alpha1.SucceededReason, message: readyMessage(cs), ready: true, retry: atInterval}
	}
	o := outcome{reason: reasonOf(err), message: err.Error()}
	switch o.reason {
	case v1alpha1.SourceNotReadyReason:
		o.retry, o.quiet = atInterval, true
	case v1alpha1.FetchFailedReason, v1alpha1.StorageFailedReason, v1alpha1.TimedOutReason:
		o.retry = backoff
	case v1alpha1.SourcesUnsettledReason, v1alpha1.HandoverReason:
		o.waiting, o.quiet, o.retry, o.after = true, true, atInterval, settleRetry
	case v1alpha1.ConflictReason:
		o.stalled, o.retry, o.after = true, atInterval, conflictRetry
	default:
		o.stalled = true
	}
	var unsettled *unsettledError
	if errors.As(err, &unsettled) {
		o.after = unsettled.after
	}
	var held *holdError
	if errors.As(err, &held) {
		o.held, o.ready, o.stalled, o.retry = &held.status, served, !served, atInterval
		if !served && cs.Status.Artifact != nil && cs.Status.Withheld == "" {
			o.message += "; the archive that was published last is lost, and cannot be rendered again"
		}
	}
	return o
}

func readyMessage(cs *v1alpha1.CatalogSelection) string {
	s, a := cs.Status.Summary, cs.Status.Artifact
	if s == nil || a == nil {
		return ""
	}
	message := fmt.Sprintf("published %d of %d applications, revision %s", s.Selected, s.Available, bounds.ShortRevision(a.Revision))
	if cluster.AwaitsConsumer(cs) {
		message += "; the ExternalArtifact names no artifact until a Kustomization uses it"
	}
	return message
}

// report writes the outcome into the conditions of the selection.
func (o outcome) report(cs *v1alpha1.CatalogSelection) {
	message := bounds.Truncate(o.message, bounds.ConditionMessage)
	switch {
	case o.held != nil:
		conditions.MarkTrue(cs, v1alpha1.HeldCondition, o.reason, "%s", message)
		cs.Status.Held = o.held
	case o.ready || o.stalled || !conditions.Has(cs, v1alpha1.HeldCondition):
		conditions.MarkFalse(cs, v1alpha1.HeldCondition, v1alpha1.NothingHeldReason, "no change is held")
		cs.Status.Held = nil
	default:
		// What is held stays held while a source cannot be had, or the storage fails. Whether a new
		// generation is held is not known then: the condition is of the one before.
	}
	if o.names != nil {
		reportCondition(cs, v1alpha1.UnmatchedCondition, o.names.condition())
	}
	reportCondition(cs, v1alpha1.AppliedCondition, o.applied)
	reportCondition(cs, v1alpha1.PushedCondition, o.pushed)
	reportCondition(cs, v1alpha1.SourceReadyCondition, o.sources)
	// Deleting what is set again below would give it a new transition time at every retry.
	if o.ready || o.stalled {
		conditions.Delete(cs, meta.ReconcilingCondition)
	}
	if o.ready || !o.stalled {
		conditions.Delete(cs, meta.StalledCondition)
	}
	switch {
	case o.ready && o.held != nil:
		conditions.MarkTrue(cs, meta.ReadyCondition, v1alpha1.SucceededReason, "%s; a change is held%s",
			readyMessage(cs), o.failing())
	case o.waiting:
		conditions.MarkReconciling(cs, o.reason, "%s", message)
		conditions.MarkUnknown(cs, meta.ReadyCondition, o.reason, "%s", message)
	case o.ready:
		conditions.MarkTrue(cs, meta.ReadyCondition, o.reason, "%s%s", message, o.failing())
	case o.stalled:
		conditions.MarkStalled(cs, o.reason, "%s", message)
		conditions.MarkFalse(cs, meta.ReadyCondition, o.reason, "%s", message)
	default:
		conditions.MarkReconciling(cs, meta.ProgressingWithRetryReason, "%s", message)
		conditions.MarkFalse(cs, meta.ReadyCondition, o.reason, "%s", message)
	}
	cs.Status.ObservedGeneration = cs.Generation
}

// failing is what Ready adds to its message while a source fails, and the last good artifact is served.
func (o outcome) failing() string {
	if o.sources == nil || o.sources.Status != metav1.ConditionFalse {
		return ""
	}
	return "; a source fails, see " + v1alpha1.SourceReadyCondition
}

// reportCondition sets a condition of the type, or removes it where it is nil.
func reportCondition(cs *v1alpha1.CatalogSelection, conditionType string, condition *metav1.Condition) {
	if condition == nil {
		conditions.Delete(cs, conditionType)
		return
	}
	typed := *condition
	typed.Type = conditionType
	conditions.Set(cs, &typed)
}

// conflictRetry is how soon a conflict is looked at again: a reservation may have run out.
const conflictRetry = time.Minute

// soon makes the outcome come back after a delay, if that is not zero.
func (o *outcome) soon(after time.Duration) {
	if after > 0 && (o.after == 0 || after < o.after) {
		o.after = after
	}
}

// requeueAfter returns the delay that the outcome asks for, before jitter; zero is none.
func (o outcome) requeueAfter(interval metav1.Duration) time.Duration {
	switch {
	case o.retry == atInterval && o.after > 0:
		return min(o.after, interval.Duration)
	case o.retry == atInterval:
		return interval.Duration
	}
	return o.after
}
