// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Leftover is how a live definition is left behind by the artifacts of Winnow; the zero value if it is not.
type Leftover struct {
	// Bypassed: it has the bypass label, or the annotation that keeps Flux from updating it. BypassedSince is when the field manager
	// that has set it has last written; nil if that is not known.
	Bypassed      bool
	BypassedSince *time.Time
	// Orphaned: it has the label of Winnow, and nothing applies it any more.
	Orphaned bool
}

// LeftoverOf returns how a live definition is left behind. isApplied reports that an inventory, or the artifact, has it.
func LeftoverOf(object metav1.Object, isApplied bool) Leftover {
	left := Leftover{Orphaned: !isApplied && object.GetLabels()[v1alpha1.ManagedByLabel] == v1alpha1.ManagedByValue}
	key := ReconcileAnnotation
	if Bypassed(object) {
		key = v1alpha1.BypassLabel
	} else if !Untouched(object) {
		return left
	}
	left.Bypassed = true
	for _, f := range object.GetManagedFields() {
		if f.Time != nil && sets(f, key) {
			at := f.Time.UTC()
			left.BypassedSince = &at
		}
	}
	return left
}

// SetsBypass reports whether the fields of a manager have the label or the annotation of a bypass.
func SetsBypass(f metav1.ManagedFieldsEntry) bool {
	return sets(f, v1alpha1.BypassLabel) || sets(f, ReconcileAnnotation)
}
