package controllers

import (
	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/cluster"
)

// sendEvents tells about a new revision, and about a failure or a hold that was not told yet.
// Notification-controller knows a closed list of kinds, which has ExternalArtifact in it, so
// what happens to the selection is told of its ExternalArtifact as well.
func (r *CatalogSelectionReconciler) sendEvents(before, after *v1alpha1.CatalogSelection, o outcome) {
	switch {
	case o.ready && o.held == nil:
		if cluster.RevisionOf(before) != cluster.RevisionOf(after) || !conditions.IsTrue(before, meta.ReadyCondition) {
			r.sendEvent(after, corev1.EventTypeNormal, o)
		}
	case o.quiet:
	case told(before, after, o):
	default:
		r.sendEvent(after, corev1.EventTypeWarning, o)
	}
}

// tellPushed tells that the artifact is in the registry of spec.push, and once for each reason that it
// is not.
func (r *CatalogSelectionReconciler) tellPushed(before, after *v1alpha1.CatalogSelection) {
	now := conditions.Get(after, v1alpha1.PushedCondition)
	if now == nil {
		return
	}
	o := outcome{reason: now.Reason, message: now.Message}
	switch {
	case now.Status == metav1.ConditionTrue && !equality.Semantic.DeepEqual(before.Status.Push, after.Status.Push):
		r.sendEvent(after, corev1.EventTypeNormal, o)
	case now.Status == metav1.ConditionFalse && conditions.GetReason(before, v1alpha1.PushedCondition) != now.Reason:
		r.sendEvent(after, corev1.EventTypeWarning, o)
	}
}

// told reports whether the conditions that report trouble said the same before. The message of what
// is retried may name ports and temporary files, and differ every time. Of what is held, only the
// revision and the reasons count, and that nothing is served any more.
func told(before, after *v1alpha1.CatalogSelection, o outcome) bool {
	if o.held != nil {
		return equality.Semantic.DeepEqual(before.Status.Held, after.Status.Held) &&
			(o.ready || !conditions.IsTrue(before, meta.ReadyCondition))
	}
	for _, t := range []string{meta.ReadyCondition, v1alpha1.HeldCondition} {
		if conditions.GetReason(before, t) != conditions.GetReason(after, t) {
			return false
		}
		if o.retry != backoff && conditions.GetMessage(before, t) != conditions.GetMessage(after, t) {
			return false
		}
	}
	return true
}

func (r *CatalogSelectionReconciler) sendEvent(cs *v1alpha1.CatalogSelection, eventType string, o outcome) {
	message := bounds.Truncate(o.message, bounds.EventMessage)
	r.AnnotatedEventf(cs, eventMetadata(v1alpha1.GroupVersion.Group, cs), eventType, o.reason, "%s", message)
	if cs.Status.Artifact == nil {
		return
	}
	artifact := &sourcev1.ExternalArtifact{}
	artifact.SetGroupVersionKind(sourcev1.GroupVersion.WithKind(sourcev1.ExternalArtifactKind))
	artifact.Name, artifact.Namespace = cs.Name, cs.Namespace
	r.AnnotatedEventf(artifact, eventMetadata(sourcev1.GroupVersion.Group, cs), eventType, o.reason, "%s", message)
}

// eventMetadata names revision and digest under keys of the object's API group, as
// notification-controller wants them.
func eventMetadata(group string, cs *v1alpha1.CatalogSelection) map[string]string {
	if cs.Status.Artifact == nil {
		return nil
	}
	return map[string]string{
		group + "/" + eventv1.MetaRevisionKey: cs.Status.Artifact.Revision,
		group + "/" + eventv1.MetaDigestKey:   cs.Status.Artifact.Digest,
	}
}
