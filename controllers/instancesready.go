// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/runtime/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// instancesReady returns the condition InstancesReady without its type; nil for a selection without instances. Until
// the Kustomizations have applied the artifact, a ready object may still belong to the previous artifact.
func instancesReady(cs *v1alpha1.CatalogSelection) *metav1.Condition {
	listed := cs.Status.Instances
	if len(cs.Spec.Instances) == 0 && len(listed) == 0 {
		return nil
	}
	total := len(listed)
	if cs.Status.Summary != nil {
		total = int(cs.Status.Summary.Instances)
	}
	ready, failed := withReady(listed, metav1.ConditionTrue), withReady(listed, metav1.ConditionFalse)
	applied := conditions.Get(cs, v1alpha1.AppliedCondition)
	c := &metav1.Condition{Status: metav1.ConditionUnknown, Reason: v1alpha1.InstanceUnknownReason, Message: describeUnready(listed, total)}
	switch {
	case len(failed) > 0:
		c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.InstanceNotReadyReason
	case applied != nil && applied.Status == metav1.ConditionFalse:
		c.Reason, c.Message = applied.Reason, "the artifact is not applied: "+bounds.Truncate(applied.Message, maxApplied)
	case total == 0:
		c.Reason, c.Message = v1alpha1.ProgressingReason, "no instance is published yet"
	case len(ready) == total:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, v1alpha1.SucceededReason, fmt.Sprintf("%d of %d ready", total, total)
	case len(ready) == len(listed):
		c.Message = fmt.Sprintf("%d of %d ready, and the others are not listed", len(ready), total)
	}
	return c
}

// maxApplied bounds the message of Applied in the message of InstancesReady, in bytes.
const maxApplied = 1 << 10

func withReady(instances []v1alpha1.InstanceStatus, ready ...metav1.ConditionStatus) []v1alpha1.InstanceStatus {
	return slices.DeleteFunc(slices.Clone(instances), func(in v1alpha1.InstanceStatus) bool { return !slices.Contains(ready, in.Ready) })
}

// describeUnready lists the instances that are not ready, and then those whose state is unknown.
func describeUnready(instances []v1alpha1.InstanceStatus, total int) string {
	const listed = 10
	var parts []string
	add := func(what string, found []v1alpha1.InstanceStatus) {
		if len(found) > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d %s: %s", len(found), total, what, excerpt.Clauses(found, listed, 0, describeInstance)))
		}
	}
	add("not ready", withReady(instances, metav1.ConditionFalse))
	add("not known", withReady(instances, metav1.ConditionUnknown, ""))
	return bounds.Truncate(strings.Join(parts, "; "), bounds.ConditionMessage)
}

func describeInstance(in v1alpha1.InstanceStatus) string { return in.Name + ": " + in.Message }
