// SPDX-License-Identifier: Apache-2.0

// Package marks sets and removes the marks of live objects: those of the bypass, of moves, and of definitions that no selection
// holds. It must not know when an object may leave.
package marks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/access"
	"github.com/winnow-dev/winnow/controllers/cluster/claims"
	"github.com/winnow-dev/winnow/render/guard"
)

// Marks sets and removes the marks of live objects. All fields are required.
type Marks struct {
	*access.Access
	Claims *claims.Claims
	// Now is the clock for moves.
	Now func() time.Time
}

// Set has all marks that Winnow's field manager sets on one definition.
type Set struct {
	// Bypass keeps Flux from updating and deleting the definition.
	Bypass bool
	// Kept keeps Flux from deleting the definition while it moves to another selection.
	Kept bool
	// Unmanaged marks a definition that no selection holds.
	Unmanaged bool
}

// marksOf returns the marks that the field manager has set.
func marksOf(object *guard.Live) Set {
	return Set{
		Bypass: guard.Owns(object, guard.ReconcileAnnotation), Kept: guard.Owns(object, guard.PruneAnnotation), Unmanaged: guard.Owns(object, v1alpha1.UnmanagedLabel),
	}
}

// markTries bounds the attempts to set a mark after conflicting writes.
const markTries = 3

// Mark changes the marks of a definition and reports whether they are as change makes them. It writes only
// differences.
//
// Every apply sets all marks of the field manager, so it starts from the object in the API server, not in a
// cache, and the resource version of that object keeps it from removing a mark that another process sets
// meanwhile.
func (m *Marks) Mark(ctx context.Context, cs *v1alpha1.CatalogSelection, object *guard.Live, change func(*Set)) (bool, error) {
	now := marksOf(object)
	if change(&now); now == marksOf(object) {
		return true, nil
	}
	if !guard.LiveKey(object).IsDefinition() {
		return false, nil // no right to change what installs software
	}
	for range markTries {
		live := &guard.Live{TypeMeta: object.TypeMeta}
		err := m.APIReader.Get(ctx, client.ObjectKeyFromObject(object), live)
		if client.IgnoreNotFound(err) != nil {
			return m.written(ctx, cs, object, err)
		}
		if err != nil || live.UID != object.UID {
			return false, nil // a definition that is gone needs no mark
		}
		now := marksOf(live)
		if change(&now); now == marksOf(live) {
			return true, nil
		}
		if done, err := m.apply(ctx, cs, live, now); done || !apierrors.IsConflict(err) {
			return done, err
		}
	}
	return false, nil // the watch enqueues the selection again
}

// apply sets exactly these marks, and so removes the other ones of the field manager. The UID and the resource
// version keep it from creating a definition that was deleted meanwhile, and from changing another version of
// it. It takes no field from another manager, and reports whether the marks are set; the error is a conflict if
// the definition was changed meanwhile.
func (m *Marks) apply(ctx context.Context, cs *v1alpha1.CatalogSelection, live *guard.Live, set Set) (bool, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(live.GroupVersionKind())
	u.SetName(live.Name)
	u.SetNamespace(live.Namespace)
	u.SetUID(live.UID)
	u.SetResourceVersion(live.ResourceVersion)
	annotations := map[string]string{}
	if set.Bypass {
		annotations[guard.ReconcileAnnotation] = guard.Disabled
	}
	if set.Kept {
		annotations[guard.PruneAnnotation] = guard.Disabled
	}
	if len(annotations) > 0 {
		u.SetAnnotations(annotations)
	}
	if set.Unmanaged {
		u.SetLabels(map[string]string{v1alpha1.UnmanagedLabel: "true"})
	}
	account, err := m.Accounts.Of(cs)
	if err != nil {
		return false, err
	}
	err = account.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(guard.MarksOwner))
	if apierrors.IsConflict(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) {
		return false, err
	}
	return m.written(ctx, cs, live, err)
}

func (m *Marks) patch(ctx context.Context, cs *v1alpha1.CatalogSelection, object *guard.Live, metadata map[string]any) error {
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	account, err := m.Accounts.Of(cs)
	if err != nil {
		return err
	}
	target := &guard.Live{TypeMeta: object.TypeMeta}
	target.Name, target.Namespace = object.Name, object.Namespace
	err = account.Patch(ctx, target, client.RawPatch(types.MergePatchType, body), client.FieldOwner(guard.MarksOwner))
	_, err = m.written(ctx, cs, object, err)
	return err
}

// written handles the error of a write, and reports whether the write succeeded. A deleted definition needs no
// mark; a change of the definition enqueues the selection again, by the watch. A field of another manager stays
// unchanged.
func (m *Marks) written(ctx context.Context, cs *v1alpha1.CatalogSelection, object *guard.Live, err error) (bool, error) {
	switch {
	case err == nil:
		return true, nil
	case apierrors.IsForbidden(err):
		m.ReportForbidden(ctx, cs, err, "definitions are not marked")
	case apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict):
		m.ReportForbidden(ctx, cs, err, "the definition "+object.Name+" is not marked")
	case apierrors.IsConflict(err), apierrors.IsNotFound(err), uidChanged(err):
	default:
		return false, fmt.Errorf("marking %s %s: %w", object.Kind, object.Name, err)
	}
	return false, nil
}

// uidChanged reports whether a write was refused because the definition has a new UID.
func uidChanged(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}
