// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
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
	if _, err := in.Patch(ctx, key.Name, types.MergePatchType, content, patchOptions); err != nil {
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
