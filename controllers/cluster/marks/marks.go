// SPDX-License-Identifier: Apache-2.0

// Package marks sets and removes the marks of live objects: marks of the bypass, of moves, and of definitions that no selection
// holds. It must not know when an object may leave.
package marks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/config"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/cluster/access"
	"github.com/winnow-dev/winnow/controllers/cluster/holders"
	"github.com/winnow-dev/winnow/render/guard"
)

// Marks sets and removes the marks of live objects. All fields are required.
type Marks struct {
	*access.Access
	Holders *holders.Holders
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

// marksOf returns the marks that the field manager has set and that are there: it goes on to own one that admission has removed
// from the same request.
func marksOf(object *guard.Live) Set {
	there := has(object)
	return Set{
		Bypass:    there.Bypass && guard.Owns(object, guard.ReconcileAnnotation),
		Kept:      there.Kept && guard.Owns(object, guard.PruneAnnotation),
		Unmanaged: there.Unmanaged && guard.Owns(object, v1alpha1.UnmanagedLabel),
	}
}

// has returns the marks that an object has, whichever manager set them.
func has(object metav1.Object) Set {
	_, labelled := object.GetLabels()[v1alpha1.UnmanagedLabel]
	return Set{Bypass: guard.Untouched(object), Kept: guard.Kept(object), Unmanaged: labelled}
}

// markTries bounds the attempts to set a mark after conflicting writes.
const markTries = 3

// Refused is the error of a mark that Winnow may not set, or that does not stay. Its message says what to do.
type Refused struct{ message string }

func (e *Refused) Error() string { return e.message }

// ErrChanged is the error of a mark of an object that another client has changed, or created again, at the same time. The watch
// enqueues the selection again.
var ErrChanged = errors.New("the object has changed")

// Keep sets the mark that keeps Flux from deleting an object. A definition that is gone needs no mark. The error is a *Refused,
// ErrChanged or temporary.
func (m *Marks) Keep(ctx context.Context, cs *v1alpha1.CatalogSelection, object *guard.Live) error {
	err := m.set(ctx, cs, object, func(s *Set) { s.Kept = true })
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Mark changes the marks of a definition and reports whether they are as change makes them. It writes only
// differences. A definition that is gone has none.
func (m *Marks) Mark(ctx context.Context, cs *v1alpha1.CatalogSelection, object *guard.Live, change func(*Set)) (bool, error) {
	err := m.set(ctx, cs, object, change)
	if _, refused := errors.AsType[*Refused](err); refused || errors.Is(err, ErrChanged) || apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// set changes the marks of a definition. The error is a *Refused, ErrChanged, that nothing was found, or temporary.
//
// Every apply sets all marks of the field manager, so it starts from the object in the API server, not in a
// cache, and the resource version of that object keeps it from removing a mark that another process sets
// meanwhile.
func (m *Marks) set(ctx context.Context, cs *v1alpha1.CatalogSelection, object *guard.Live, change func(*Set)) error {
	was := marksOf(object)
	now := was
	if change(&now); now == was && !now.Kept { // the cache may still have a mark that was removed a moment ago
		return nil
	}
	if !guard.LiveKey(object).IsDefinition() {
		return &Refused{"Winnow only reads this kind"} // the right to change it is one to install anything
	}
	for range markTries {
		live := &guard.Live{TypeMeta: object.TypeMeta}
		if err := m.APIReader.Get(ctx, client.ObjectKeyFromObject(object), live); err != nil {
			return m.written(ctx, cs, object, err)
		}
		if live.UID != object.UID {
			return ErrChanged
		}
		now := marksOf(live)
		if change(&now); now == marksOf(live) {
			return nil
		}
		if err := m.apply(ctx, cs, live, now); !errors.Is(err, ErrChanged) {
			return err
		}
	}
	return ErrChanged
}

// apply sets exactly these marks, and so removes the other ones of the field manager. The UID and the resource
// version keep it from creating a definition that was deleted meanwhile, and from changing another version of
// it. It takes no field from another manager. The answer has the definition as it is stored, after admission.
func (m *Marks) apply(ctx context.Context, cs *v1alpha1.CatalogSelection, live *guard.Live, set Set) error {
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
		return err
	}
	err = account.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(guard.MarksOwner))
	if there := has(u); err == nil && (set.Kept && !there.Kept || set.Bypass && !there.Bypass || set.Unmanaged && !there.Unmanaged) {
		refused := &Refused{"Winnow has set it, and it did not stay: let the mutating admission policy or webhook that removes it spare this object"}
		m.ReportForbidden(ctx, cs, refused, "the definition "+live.Name+" is not marked")
		return refused
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
	err = m.written(ctx, cs, object, account.Patch(ctx, target, client.RawPatch(types.MergePatchType, body), client.FieldOwner(guard.MarksOwner)))
	if _, refused := errors.AsType[*Refused](err); refused || errors.Is(err, ErrChanged) {
		return nil
	}
	return client.IgnoreNotFound(err)
}

// written returns what the error of a request means: a *Refused if Winnow may not set the mark, by its rights or by admission, or if
// another manager has the field; ErrChanged after a conflict; that nothing was found; or a temporary one.
func (m *Marks) written(ctx context.Context, cs *v1alpha1.CatalogSelection, object *guard.Live, err error) error {
	theirs := apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict)
	switch {
	case err == nil, apierrors.IsNotFound(err):
		return err
	case !theirs && apierrors.IsConflict(err), uidChanged(err):
		return ErrChanged
	case theirs, apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		consequence := "definitions are not marked"
		if !apierrors.IsForbidden(err) {
			consequence = "the definition " + object.Name + " is not marked"
		}
		grants := m.grants(cs, err)
		m.ReportForbidden(ctx, cs, err, consequence+grants)
		return &Refused{fmt.Sprintf("it may not be marked: the API server refuses the annotation: %s; let Winnow set it, or set it by hand%s",
			bounds.Truncate(err.Error(), maxQuoted), grants)}
	}
	return fmt.Errorf("marking %s %s: %w", object.Kind, object.Name, err)
}

// grants returns what grants the right that an error misses, after a semicolon; nothing if an admission policy denies the request.
func (m *Marks) grants(cs *v1alpha1.CatalogSelection, err error) string {
	switch {
	case !strings.Contains(err.Error(), " cannot "):
		return ""
	case strings.Contains(err.Error(), " cannot impersonate "):
		return "; " + config.GrantsImpersonation
	case m.Accounts.Impersonates(cs):
		return "; " + config.GrantsAccount
	}
	return "; " + config.GrantsMarks
}

// maxQuoted bounds the part of an API error in a message, in bytes.
const maxQuoted = 512

// uidChanged reports whether a write was refused because the definition has a new UID.
func uidChanged(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}
