// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// events sends the events of one reconciliation, about the differences between the selection before and after it.
type events struct {
	record.EventRecorder
	before, after *v1alpha1.CatalogSelection
}

// published reports a new revision, and a failure or a hold that was not reported before.
func (e events) published(o outcome) {
	switch {
	case o.ready && o.held == nil:
		if consumers.RevisionOf(e.before) != consumers.RevisionOf(e.after) || !conditions.IsTrue(e.before, meta.ReadyCondition) {
			e.send(corev1.EventTypeNormal, o.reason, o.message)
		}
	case o.quiet, e.reported(o):
	default:
		e.send(corev1.EventTypeWarning, o.reason, o.message)
	}
}

// reported reports whether the failure or hold was reported before. The message of a retried error may name ports and
// temporary files that differ every time, so only its reason counts. Of a hold, the revision, the reasons, and
// whether the last artifact is still served count.
func (e events) reported(o outcome) bool {
	if o.held != nil {
		return equality.Semantic.DeepEqual(e.before.Status.Held, e.after.Status.Held) &&
			(o.ready || !conditions.IsTrue(e.before, meta.ReadyCondition))
	}
	for _, t := range []string{meta.ReadyCondition, v1alpha1.HeldCondition} {
		if conditions.GetReason(e.before, t) != conditions.GetReason(e.after, t) {
			return false
		}
		if o.retry != backoff && conditions.GetMessage(e.before, t) != conditions.GetMessage(e.after, t) {
			return false
		}
	}
	return true
}

// sources reports a failing source once for each reason, and its recovery, unless the event of Ready does. A source
// that is not ready before the first publication is not reported: Flux applies a selection before its sources.
func (e events) sources() {
	was, now := conditions.Get(e.before, v1alpha1.SourceReadyCondition), conditions.Get(e.after, v1alpha1.SourceReadyCondition)
	failed := was != nil && was.Status == metav1.ConditionFalse
	served := conditions.IsTrue(e.before, meta.ReadyCondition) && consumers.RevisionOf(e.before) == consumers.RevisionOf(e.after)
	switch {
	case now == nil, now.Reason == v1alpha1.SourceNotReadyReason && e.after.Status.Artifact == nil:
	case slices.Contains([]string{v1alpha1.AccessDeniedReason, v1alpha1.VerificationFailedReason},
		conditions.GetReason(e.after, meta.ReadyCondition)): // the event of Ready is about the source
	case now.Status == metav1.ConditionFalse && (!failed || was.Reason != now.Reason):
		e.send(corev1.EventTypeWarning, now.Reason, now.Message)
	case now.Status == metav1.ConditionTrue && failed && served:
		e.send(corev1.EventTypeNormal, now.Reason, now.Message)
	}
}

// pushed reports each artifact that was pushed to the registry of spec.push, and a failing push once for each reason.
func (e events) pushed() {
	now := conditions.Get(e.after, v1alpha1.PushedCondition)
	switch {
	case now == nil:
	case now.Status == metav1.ConditionTrue && !equality.Semantic.DeepEqual(e.before.Status.Push, e.after.Status.Push):
		e.send(corev1.EventTypeNormal, now.Reason, now.Message)
	case now.Status == metav1.ConditionFalse && conditions.GetReason(e.before, v1alpha1.PushedCondition) != now.Reason:
		e.send(corev1.EventTypeWarning, now.Reason, now.Message)
	}
}

// sourceChanges reports the definitions that a publication took from another source, also where the safeguard for it
// is off: what is installed is upgraded in place while its version stays the same.
func (e events) sourceChanges(changes []safeguard.Change) {
	const listed = 10
	if len(changes) == 0 {
		return
	}
	e.send(corev1.EventTypeNormal, v1alpha1.SourceChangeReason, "published: "+excerpt.Clauses(changes, listed, 0, func(c safeguard.Change) string {
		return c.Key.FullName() + ": " + guard.Describe(c, selection.Result{})
	}))
}

// instances reports the instances that are not ready any more, and those that are ready now, by the states that were reported
// last. Unknown is no news: some objects are it in each of their reconciliations.
func (e events) instances(reported map[string]metav1.ConditionStatus) {
	const listed = 10
	var failed, ready []v1alpha1.InstanceStatus
	for _, in := range e.after.Status.Instances {
		switch {
		case in.Ready == reported[in.Name]:
		case in.Ready == metav1.ConditionFalse:
			failed = append(failed, in)
		case in.Ready == metav1.ConditionTrue && reported[in.Name] != "":
			ready = append(ready, in)
		}
	}
	if len(failed) > 0 {
		e.send(corev1.EventTypeWarning, v1alpha1.InstanceNotReadyReason, "not ready: "+excerpt.Clauses(failed, listed, 0, describeInstance))
	}
	if len(ready) > 0 {
		e.send(corev1.EventTypeNormal, v1alpha1.SucceededReason, "ready: "+excerpt.List(ready, listed, func(in v1alpha1.InstanceStatus) string { return in.Name }))
	}
}

// send sends an event of the selection and, if it has an artifact, of the ExternalArtifact: notification-controller
// accepts a closed list of kinds that contains ExternalArtifact and not CatalogSelection.
func (e events) send(eventType, reason, message string) {
	message = bounds.Truncate(message, bounds.EventMessage)
	e.AnnotatedEventf(e.after, eventMetadata(v1alpha1.GroupVersion.Group, e.after), eventType, reason, "%s", message)
	if e.after.Status.Artifact == nil {
		return
	}
	artifact := &sourcev1.ExternalArtifact{}
	artifact.SetGroupVersionKind(sourcev1.GroupVersion.WithKind(sourcev1.ExternalArtifactKind))
	artifact.Name, artifact.Namespace = e.after.Name, e.after.Namespace
	e.AnnotatedEventf(artifact, eventMetadata(sourcev1.GroupVersion.Group, e.after), eventType, reason, "%s", message)
}

// eventMetadata names revision and digest under keys of the object's API group, as
// notification-controller expects them.
func eventMetadata(group string, cs *v1alpha1.CatalogSelection) map[string]string {
	if cs.Status.Artifact == nil {
		return nil
	}
	return map[string]string{
		group + "/" + eventv1.MetaRevisionKey: cs.Status.Artifact.Revision,
		group + "/" + eventv1.MetaDigestKey:   cs.Status.Artifact.Digest,
	}
}
