package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// marks are all that the field manager of the marks sets on one definition.
type marks struct {
	// bypass keeps Flux from updating and deleting it.
	bypass bool
	// kept keeps Flux from deleting it while it moves to another selection.
	kept bool
	// unmanaged says that no selection holds it.
	unmanaged bool
}

// markings are the marks that were set, by UID, until the cache has them: every apply sets all marks of
// a definition, and must not take back one that it does not see yet.
type markings struct {
	mu     sync.Mutex
	recent map[types.UID]marking
}

type marking struct {
	marks
	resourceVersion string
}

// marksOf returns the marks that the field manager has set. The lock is held.
func (m *markings) marksOf(object *liveMeta) marks {
	last, ok := m.recent[object.UID]
	if ok {
		order, err := resourceversion.CompareResourceVersion(object.ResourceVersion, last.resourceVersion)
		if err == nil && order < 0 {
			return last.marks
		}
		delete(m.recent, object.UID)
	}
	return marks{
		bypass: owns(object, reconcileAnnotation), kept: owns(object, pruneAnnotation), unmanaged: owns(object, v1alpha1.UnmanagedLabel),
	}
}

func ownsAnyMark(object client.Object) bool {
	return owns(object, reconcileAnnotation) || owns(object, pruneAnnotation)
}

// mark changes the marks of a definition and reports whether they are as change makes them. Nothing
// is written where they are already.
func (c *Cluster) mark(ctx context.Context, cs *v1alpha1.CatalogSelection, object *liveMeta, change func(*marks)) (bool, error) {
	c.marked.mu.Lock()
	defer c.marked.mu.Unlock()
	before := c.marked.marksOf(object)
	now := before
	change(&now)
	if now == before {
		return true, nil
	}
	version, done, err := c.apply(ctx, cs, object, now)
	if done {
		put(&c.marked.recent, object.UID, marking{now, version})
	}
	return done, err
}

// apply sets exactly these marks, and so removes the other ones of ours. The UID keeps it from
// creating a definition that was deleted meanwhile. It takes no field from another manager, and
// returns the version that it wrote and whether the marks are set.
func (c *Cluster) apply(ctx context.Context, cs *v1alpha1.CatalogSelection, object *liveMeta, m marks) (version string, done bool, err error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(object.GroupVersionKind())
	u.SetName(object.Name)
	u.SetNamespace(object.Namespace)
	u.SetUID(object.UID)
	annotations := map[string]string{}
	if m.bypass {
		annotations[reconcileAnnotation] = disabled
	}
	if m.kept {
		annotations[pruneAnnotation] = disabled
	}
	if len(annotations) > 0 {
		u.SetAnnotations(annotations)
	}
	if m.unmanaged {
		u.SetLabels(map[string]string{v1alpha1.UnmanagedLabel: "true"})
	}
	account, err := c.accountOf(cs)
	if err != nil {
		return "", false, err
	}
	err = account.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(marksOwner))
	done, err = c.written(ctx, cs, object, err)
	return u.GetResourceVersion(), done, err
}

func (c *Cluster) patch(ctx context.Context, cs *v1alpha1.CatalogSelection, object *liveMeta, metadata map[string]any) error {
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	account, err := c.accountOf(cs)
	if err != nil {
		return err
	}
	target := &liveMeta{TypeMeta: object.TypeMeta}
	target.Name, target.Namespace = object.Name, object.Namespace
	err = account.Patch(ctx, target, client.RawPatch(types.MergePatchType, body), client.FieldOwner(marksOwner))
	_, err = c.written(ctx, cs, object, err)
	return err
}

// written judges the error of a write, and reports whether it was done. A definition that is gone
// needs no mark; one that was changed meanwhile comes back by the watch. A field of another manager
// stays as it is.
func (c *Cluster) written(ctx context.Context, cs *v1alpha1.CatalogSelection, object *liveMeta, err error) (bool, error) {
	switch {
	case err == nil:
		return true, nil
	case apierrors.IsForbidden(err):
		c.reportForbidden(ctx, cs, err, "definitions are not marked")
	case apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict):
		c.reportForbidden(ctx, cs, err, "the definition "+object.Name+" is not marked")
	case apierrors.IsConflict(err), apierrors.IsNotFound(err), uidChanged(err):
	default:
		return false, fmt.Errorf("marking %s %s: %w", object.Kind, object.Name, err)
	}
	return false, nil
}

// uidChanged reports whether a write was refused because the definition has another UID by now.
func uidChanged(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}
