// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// pollInterval is the delay between two looks at an object. A watch would need another right.
const pollInterval = 500 * time.Millisecond

// Selection returns the object as a CatalogSelection.
func (r *Reconciled) Selection() (*Selection, error) { return selectionOf(r.Object) }

// PendingError reports that a request was not handled in time.
type PendingError struct {
	*Request
	// Waiting describes the state at the end.
	Waiting string
}

// Error names the object and its state.
func (e *PendingError) Error() string { return fmt.Sprintf("%s %s %s", e.Kind, e.Key, e.Waiting) }

// state is the part of an object that all kinds have which Flux reconciles.
type state struct {
	Metadata struct {
		Generation  int64             `json:"generation"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Suspend bool `json:"suspend"`
	} `json:"spec"`
	Status struct {
		meta.ReconcileRequestStatus `json:",inline"`

		Conditions []metav1.Condition `json:"conditions"`
		Artifact   *meta.Artifact     `json:"artifact"`
	} `json:"status"`
}

// Wait waits until the controller has handled the request and Ready is True or False for the current generation, and
// until a Ready selection was rendered from r.Sources. The error is a *PendingError once the deadline of the context is
// exceeded, and a *SuspendedError if the object is suspended meanwhile.
func (c *Cluster) Wait(ctx context.Context, r *Request) (*Reconciled, error) {
	pending := &PendingError{Request: r, Waiting: "has not been read"}
	var done *Reconciled
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		object, err := c.get(ctx, r.in, r.Kind, r.Key)
		if err != nil {
			return false, err
		}
		var s state
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &s); err != nil {
			return false, fmt.Errorf("decoding the %s %s: %w", r.Kind, r.Key, err)
		}
		if s.Spec.Suspend {
			return false, &SuspendedError{Kind: r.Kind, Key: r.Key}
		}
		if pending.Waiting = s.waiting(r.value); pending.Waiting != "" {
			return false, nil
		}
		done = &Reconciled{Request: r, Object: object, Ready: *s.ready()}
		if s.Status.Artifact != nil {
			done.Revision = s.Status.Artifact.Revision
		}
		pending.Waiting, err = done.behind()
		return pending.Waiting == "", err
	})
	switch {
	case err == nil:
		return done, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, pending
	}
	return nil, err
}

// behind describes the first of r.Sources that a Ready selection was not rendered from: the controller may see the
// request before it sees the new revision of the source.
func (r *Reconciled) behind() (string, error) {
	if len(r.Sources) == 0 || r.Ready.Status != metav1.ConditionTrue {
		return "", nil
	}
	cs, err := r.Selection()
	if err != nil {
		return "", err
	}
	for _, source := range r.Sources {
		rendered := slices.ContainsFunc(cs.Status.Sources, func(s v1alpha1.SourceStatus) bool {
			return s.Kind == source.Kind && s.Namespace == source.Key.Namespace && s.Name == source.Key.Name && s.Revision == source.Revision
		})
		held := cs.Status.Held != nil && strings.Contains(cs.Status.Held.Revision, source.Revision)
		if !rendered && !held {
			return fmt.Sprintf("was not rendered yet from %s of %s %s", source.Revision, source.Kind, source.Key), nil
		}
	}
	return "", nil
}

func (s *state) ready() *metav1.Condition {
	return apimeta.FindStatusCondition(s.Status.Conditions, meta.ReadyCondition)
}

// waiting describes why the request is not handled yet; empty once it is.
func (s *state) waiting(value string) string {
	ready := s.ready()
	if later, ok := meta.ReconcileAnnotationValue(s.Metadata.Annotations); ok {
		value = later // another client has replaced the request
	}
	switch {
	case s.Status.LastHandledReconcileAt != value:
		return "was not reconciled since the request: does its controller run?"
	case ready == nil:
		return "has no condition Ready"
	case ready.ObservedGeneration < s.Metadata.Generation: // status.observedGeneration stays behind while a source of Flux fails
		return "was not reconciled since its last edit"
	case ready.Status == metav1.ConditionUnknown:
		return fmt.Sprintf("is not ready yet: %s: %s", ready.Reason, ready.Message)
	}
	return ""
}
