// SPDX-License-Identifier: Apache-2.0

package source

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// Changed passes the updates of a source that concern the selections with it, and all other events.
func Changed() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		older, isSource := e.ObjectOld.(Object)
		newer, isStillSource := e.ObjectNew.(Object)
		return isSource && isStillSource &&
			(artifactChanged(older, newer) || verificationChanged(older, newer) || readinessChanged(older, newer))
	}}
}

// artifactChanged reports whether a source has another artifact. The digest may change at the same revision, and the URL
// when Flux moves.
func artifactChanged(older, newer Object) bool {
	a, b := older.GetArtifact(), newer.GetArtifact()
	if a == nil || b == nil {
		return a != b
	}
	return a.Revision != b.Revision || a.Digest != b.Digest || a.URL != b.URL
}

// verificationChanged reports whether a source became verified or is refused. A pending verification changes nothing in
// the publication.
func verificationChanged(older, newer Object) bool {
	now := verificationOf(newer)
	return now.signature != pending && now != verificationOf(older)
}

// readinessChanged reports whether a source began or ceased to fail, or fails in another way. A reconciliation of the
// source alone does not count.
func readinessChanged(older, newer Object) bool {
	now := readinessIn(newer)
	return now.status != metav1.ConditionUnknown && now != readinessIn(older)
}
