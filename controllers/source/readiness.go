// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/runtime/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/guard"
)

// Readiness returns the condition SourceReady without its type. It reads the conditions of all sources, with or without
// an artifact: a source that fails keeps its artifact, so that only its conditions show the failure.
func (s *Sources) Readiness(ctx context.Context, cs *v1alpha1.CatalogSelection) *metav1.Condition {
	var failing, unknown []metav1.Condition
	for _, ref := range cs.Spec.Sources {
		kind, key := guard.SourceKey(cs, ref)
		switch c := s.readinessOf(ctx, cs, kind, key); c.Status {
		case metav1.ConditionFalse:
			failing = append(failing, c)
		case metav1.ConditionUnknown:
			unknown = append(unknown, c)
		}
	}
	unready := append(failing, unknown...)
	if len(unready) == 0 {
		return conditions.TrueCondition("", v1alpha1.SucceededReason, "every source is ready")
	}
	messages := each.Map(unready, func(c metav1.Condition) string { return c.Message })
	last := conditions.Get(cs, v1alpha1.SourceReadyCondition)
	if len(failing) == 0 && last != nil && last.Status == metav1.ConditionFalse && last.ObservedGeneration == cs.Generation &&
		last.Reason != v1alpha1.SourceNotReadyReason {
		return last // Flux retries: the failure counts until the result is known
	}
	first := unready[0]
	first.Message = bounds.Truncate(strings.Join(messages, "; "), bounds.ConditionMessage)
	return &first
}

// readinessOf returns status, reason and message of a source, which the message names. It does not read a
// source that the selection may not refer to.
func (s *Sources) readinessOf(ctx context.Context, cs *v1alpha1.CatalogSelection,
	kind string, key types.NamespacedName) metav1.Condition {
	err := s.MayRefer(cs, kind, key)
	var object Object
	if err == nil {
		object, err = s.get(ctx, kind, key)
	}
	if err != nil {
		c := metav1.Condition{Status: metav1.ConditionFalse, Reason: failure.ReasonOf(err), Message: err.Error()}
		if c.Reason == v1alpha1.StorageFailedReason {
			c.Status = metav1.ConditionUnknown // the API server failed, not the source
		}
		return c
	}
	ready := readinessIn(object)
	return metav1.Condition{
		Status: ready.status, Reason: ready.reason, Message: fmt.Sprintf("source %s %s: %s", kind, key, ready.message),
	}
}
