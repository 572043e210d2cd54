package controllers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/cluster"
	"github.com/winnow-dev/winnow/render/guard"
)

// sourceReady returns the condition SourceReady without its type, by what Flux says of all sources, whether
// or not they have an artifact. A source that fails keeps its artifact, so that nothing else would tell.
func (r *CatalogSelectionReconciler) sourceReady(ctx context.Context, cs *v1alpha1.CatalogSelection) *metav1.Condition {
	var failing, unknown []metav1.Condition
	for _, ref := range cs.Spec.Sources {
		kind, key := guard.SourceKey(cs, ref)
		switch c := r.readinessOf(ctx, cs, kind, key); c.Status {
		case metav1.ConditionFalse:
			failing = append(failing, c)
		case metav1.ConditionUnknown:
			unknown = append(unknown, c)
		}
	}
	not := append(failing, unknown...)
	if len(not) == 0 {
		return conditions.TrueCondition("", v1alpha1.SucceededReason, "every source is ready")
	}
	messages := make([]string, len(not))
	for i, c := range not {
		messages[i] = c.Message
	}
	was := conditions.Get(cs, v1alpha1.SourceReadyCondition)
	if len(failing) == 0 && was != nil && was.Status == metav1.ConditionFalse && was.ObservedGeneration == cs.Generation &&
		was.Reason != v1alpha1.SourceNotReadyReason {
		return was // Flux tries once more: nothing else is known until it has
	}
	first := not[0]
	first.Message = bounds.Truncate(strings.Join(messages, "; "), bounds.ConditionMessage)
	return &first
}

// readinessOf returns status, reason and message of a source, which the message names. Of one that may not
// be referred to, nothing is read.
func (r *CatalogSelectionReconciler) readinessOf(ctx context.Context, cs *v1alpha1.CatalogSelection,
	kind string, key types.NamespacedName) metav1.Condition {
	err := r.mayRefer(cs, kind, key)
	var source fluxSource
	if err == nil {
		source, err = r.getSource(ctx, kind, key)
	}
	if err != nil {
		c := metav1.Condition{Status: metav1.ConditionFalse, Reason: reasonOf(err), Message: err.Error()}
		if c.Reason == v1alpha1.StorageFailedReason {
			c.Status = metav1.ConditionUnknown // the API server failed, and not the source
		}
		return c
	}
	ready := readinessIn(source)
	return metav1.Condition{
		Status: ready.status, Reason: ready.reason, Message: fmt.Sprintf("source %s %s: %s", kind, key, ready.message),
	}
}

// readiness is what a source says of itself.
type readiness struct {
	status          metav1.ConditionStatus
	reason, message string
}

// readinessIn returns what a source says. One that has an artifact and says nothing is ready: only the
// controllers of Flux have to set the condition.
func readinessIn(source fluxSource) readiness {
	ready, published := conditions.Get(source, meta.ReadyCondition), hasArtifact(source)
	switch {
	case published && (ready == nil || ready.Status == metav1.ConditionTrue):
		return readiness{metav1.ConditionTrue, v1alpha1.SucceededReason, ""}
	case ready == nil:
		return readiness{metav1.ConditionUnknown, v1alpha1.SourceNotReadyReason, "Flux has not looked at it yet"}
	case ready.Status == metav1.ConditionTrue:
		return readiness{metav1.ConditionUnknown, v1alpha1.SourceNotReadyReason, "it is ready, and has no artifact"}
	}
	message := withoutSecrets(strings.TrimSpace(ready.Message)) // whoever reads the selection may not read the source
	return readiness{ready.Status, ready.Reason, bounds.Truncate(cmp.Or(message, ready.Reason), maxQuotedMessage)}
}

// readinessChanged passes updates of a source that began or ceased to fail, or that fails in another way.
// That Flux is looking for a new revision changes nothing.
func readinessChanged() predicate.Predicate {
	return sourceUpdated(func(older, newer fluxSource) bool {
		now := readinessIn(newer)
		return now.status != metav1.ConditionUnknown && now != readinessIn(older)
	})
}

// tellSourceReady tells once for each reason that a source fails, and that none does any more, unless the
// event of Ready does. What is missing while nothing was published is expected: Flux applies a selection
// before its sources.
func (r *CatalogSelectionReconciler) tellSourceReady(before, after *v1alpha1.CatalogSelection) {
	was, now := conditions.Get(before, v1alpha1.SourceReadyCondition), conditions.Get(after, v1alpha1.SourceReadyCondition)
	failed := was != nil && was.Status == metav1.ConditionFalse
	served := conditions.IsTrue(before, meta.ReadyCondition) && cluster.RevisionOf(before) == cluster.RevisionOf(after)
	switch {
	case now == nil, now.Reason == v1alpha1.SourceNotReadyReason && after.Status.Artifact == nil:
	case slices.Contains([]string{v1alpha1.AccessDeniedReason, v1alpha1.VerificationFailedReason},
		conditions.GetReason(after, meta.ReadyCondition)): // it is the source that Ready tells of
	case now.Status == metav1.ConditionFalse && (!failed || was.Reason != now.Reason):
		r.sendEvent(after, corev1.EventTypeWarning, outcome{reason: now.Reason, message: now.Message})
	case now.Status == metav1.ConditionTrue && failed && served:
		r.sendEvent(after, corev1.EventTypeNormal, outcome{reason: now.Reason, message: now.Message})
	}
}
