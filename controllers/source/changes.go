// SPDX-License-Identifier: Apache-2.0

package source

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// Changed passes the updates of a source that concern the selections with it, and all other events.
func Changed() predicate.Predicate {
	return predicate.Or(artifactChanged(), verificationChanged(), readinessChanged())
}

// artifactChanged passes updates of a source's artifact. The digest may change at the same
// revision, and the URL when Flux moves.
func artifactChanged() predicate.Predicate {
	return updated(func(older, newer Object) bool {
		a, b := older.GetArtifact(), newer.GetArtifact()
		if a == nil || b == nil {
			return a != b
		}
		return a.Revision != b.Revision || a.Digest != b.Digest || a.URL != b.URL
	})
}

// updated passes the updates of a source for which matters returns true, and all other events.
func updated(matters func(older, newer Object) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		older, ok := e.ObjectOld.(Object)
		if !ok {
			return false
		}
		newer, ok := e.ObjectNew.(Object)
		return ok && matters(older, newer)
	}}
}

// verificationChanged passes updates of a source that became verified or is refused. A pending verification
// changes nothing in the publication.
func verificationChanged() predicate.Predicate {
	return updated(func(older, newer Object) bool {
		now := verificationOf(newer)
		return now.signature != pending && now != verificationOf(older)
	})
}

// readinessChanged passes updates of a source that began or ceased to fail, or that fails in another way. A
// reconciliation of the source alone does not count.
func readinessChanged() predicate.Predicate {
	return updated(func(older, newer Object) bool {
		now := readinessIn(newer)
		return now.status != metav1.ConditionUnknown && now != readinessIn(older)
	})
}
