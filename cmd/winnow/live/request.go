// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Request is a request to a controller to reconcile an object.
type Request struct {
	// Kind and Key of the object.
	Kind string
	Key  types.NamespacedName
	// Sources, of a selection, are the sources that it must have been rendered from.
	Sources []*Reconciled

	in    dynamic.ResourceInterface
	value string
}

// Reconcile requests the reconciliation of a CatalogSelection. With resume, it also removes spec.suspend.
func (c *Cluster) Reconcile(ctx context.Context, key types.NamespacedName, resume bool) (*Request, error) {
	changes := map[string]any{}
	if resume {
		changes["spec"] = map[string]any{"suspend": nil}
	}
	return c.request(ctx, c.selections(key.Namespace), v1alpha1.CatalogSelectionKind, key, changes)
}

// Suspend sets spec.suspend of a CatalogSelection.
func (c *Cluster) Suspend(ctx context.Context, key types.NamespacedName) error {
	changes := map[string]any{"spec": map[string]any{"suspend": true}}
	return c.patch(ctx, c.selections(key.Namespace), v1alpha1.CatalogSelectionKind, key, changes)
}

// SuspendedError reports that an object is suspended, so that no controller reconciles it.
type SuspendedError struct {
	Kind string
	Key  types.NamespacedName
}

// Error names the object.
func (e *SuspendedError) Error() string { return fmt.Sprintf("%s %s is suspended", e.Kind, e.Key) }

// ReconcileSource requests the reconciliation of a source of Flux. It returns nil for a kind that no request
// reconciles, and a *SuspendedError for a source that is suspended.
func (c *Cluster) ReconcileSource(ctx context.Context, kind string, key types.NamespacedName) (*Request, error) {
	if kind == sourcev1.ExternalArtifactKind {
		return nil, nil // Flux's contract of ExternalArtifacts has no requests.
	}
	resource, err := c.resource(ctx, sourcev1.GroupVersion.WithKind(kind))
	switch {
	case err != nil:
		return nil, err
	case resource == "":
		return nil, fmt.Errorf("this cluster serves no %s of %s: is Flux installed?", kind, sourcev1.GroupVersion)
	}
	in := c.objects.Resource(sourcev1.GroupVersion.WithResource(resource)).Namespace(key.Namespace)
	object, err := c.get(ctx, in, kind, key)
	if err != nil {
		return nil, err
	}
	if suspended, _, _ := unstructured.NestedBool(object.Object, "spec", "suspend"); suspended {
		return nil, &SuspendedError{Kind: kind, Key: key}
	}
	return c.request(ctx, in, kind, key, map[string]any{})
}

func (c *Cluster) request(ctx context.Context, in dynamic.ResourceInterface, kind string, key types.NamespacedName, changes map[string]any) (*Request, error) {
	r := &Request{Kind: kind, Key: key, in: in, value: time.Now().Format(time.RFC3339Nano)}
	changes["metadata"] = map[string]any{"annotations": map[string]any{meta.ReconcileRequestAnnotation: r.value}}
	return r, c.patch(ctx, in, kind, key, changes)
}

func (c *Cluster) patch(ctx context.Context, in dynamic.ResourceInterface, kind string, key types.NamespacedName, changes map[string]any) error {
	content, err := json.Marshal(changes)
	if err != nil {
		return err
	}
	if _, err := in.Patch(ctx, key.Name, types.MergePatchType, content, metav1.PatchOptions{FieldManager: FieldManager}); err != nil {
		return c.failed(ctx, "changing", kind, key, err)
	}
	return nil
}

// Reconciled is the state of an object after a request.
type Reconciled struct {
	*Request
	Object *unstructured.Unstructured
	// Ready is the condition of that name, True or False.
	Ready metav1.Condition
	// Revision of the artifact in the status; may be empty.
	Revision string
}

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
