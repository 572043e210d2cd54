package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

// bypass is what the bypassed definitions of a selection came to.
type bypass struct {
	// names of the bypassed definitions.
	names []string
	// marked are those that have just got the mark, which the cache may not know yet.
	marked map[types.UID]bool
}

// maxBypassed bounds status.bypassed, in names of at most 253 bytes.
const maxBypassed = 100

// markBypassed sets the mark that keeps Flux away on every bypassed definition that the selection
// holds or has applied, and takes it off those that are bypassed no more:
//
//	label   mark                               what is done
//	yes     none                               ours is set, by server-side apply
//	yes     somebody's                         nothing
//	no      ours                               it is removed, by server-side apply
//	no      ours, set by the admission policy  it is removed, by a patch of what was read
//	no      somebody's                         nothing
//
// Nothing is set while all consumers act on other clusters. An error is worth another try; what is
// forbidden is said once, and is none.
func (r *CatalogSelectionReconciler) markBypassed(ctx context.Context, cs *v1alpha1.CatalogSelection,
	live []*liveMeta, held keys, consumed consumers) (bypass, error) {
	found := bypass{marked: map[types.UID]bool{}}
	var errs []error
	honor := cs.Spec.Cluster.Bypass != v1alpha1.BypassIgnore
	for _, object := range live {
		mine := held[keyOf(object)] || appliedBy(cs, object)
		if !mine && (bypassed(object) || !owns(object, reconcileAnnotation)) {
			continue // what is bypassed no more, anybody may clean up
		}
		wanted := honor && bypassed(object)
		if wanted {
			found.names = append(found.names, object.Name)
		}
		var err error
		switch {
		case wanted && !untouched(object) && consumed.mayActHere():
			found.marked[object.UID], err = r.apply(ctx, cs, object, marks{bypass: true})
		case !wanted && owns(object, reconcileAnnotation):
			_, err = r.apply(ctx, cs, object, marks{})
		case !bypassed(object) && object.Annotations[v1alpha1.BypassMarkAnnotation] != "":
			err = r.unmarkAdmitted(ctx, cs, object)
		}
		errs = append(errs, err)
	}
	slices.Sort(found.names)
	return found, errors.Join(errs...)
}

// markUnmanaged labels the definitions that no selection holds, and takes the label back from
// those that it must not be on. It returns the number of those that have it. marked are those
// that have just got the mark of the bypass, which live does not know yet.
func (r *CatalogSelectionReconciler) markUnmanaged(ctx context.Context, cs *v1alpha1.CatalogSelection,
	live []*liveMeta, held keys, consumed consumers, marked map[types.UID]bool) (int, error) {
	others, err := r.others(ctx, cs)
	if err != nil {
		return 0, err
	}
	labels := cs.Spec.Cluster.Unmanaged == v1alpha1.UnmanagedLabelled
	unseen := map[types.NamespacedName]bool{}
	count := 0
	var errs []error
	for _, object := range live {
		holder := held[keyOf(object)] || r.heldBy(others, object) || labels && r.heldByUnseen(ctx, cs, object, unseen)
		orphan := !holder && !spared(object)
		var err error
		switch {
		case orphan && labels:
			var labelled bool
			if labelled, err = r.markOrphan(ctx, cs, object, consumed.appliedHere()); labelled {
				count++
			}
		case owns(object, v1alpha1.UnmanagedLabel) && (!orphan || !r.labelledBy(others, object)):
			m := marks{bypass: marked[object.UID] || owns(object, reconcileAnnotation)}
			_, err = r.apply(ctx, cs, object, m)
		}
		errs = append(errs, err)
	}
	return count, errors.Join(errs...)
}

// spared says whether a definition is nobody's orphan, because of its own labels.
func spared(object *liveMeta) bool {
	return bypassed(object) || guard.OfPlatform(object)
}

// heldBy says whether another living selection holds the definition, or has applied it.
func (r *CatalogSelectionReconciler) heldBy(others []*v1alpha1.CatalogSelection, object *liveMeta) bool {
	for _, other := range others {
		if appliedBy(other, object) || r.holdings.of(other)[keyOf(object)] {
			return true
		}
	}
	return false
}

// heldByUnseen says whether the definition carries the labels of a selection that lives, but that
// this controller does not watch: that of another shard or namespace. known remembers the answers.
func (r *CatalogSelectionReconciler) heldByUnseen(ctx context.Context, cs *v1alpha1.CatalogSelection,
	object *liveMeta, known map[types.NamespacedName]bool) bool {
	key := types.NamespacedName{Namespace: object.Labels[v1alpha1.NamespaceLabel], Name: object.Labels[v1alpha1.NameLabel]}
	if key.Name == "" || key.Namespace == "" || key == client.ObjectKeyFromObject(cs) {
		return false
	}
	if lives, asked := known[key]; asked {
		return lives
	}
	other := &v1alpha1.CatalogSelection{}
	err := r.APIReader.Get(ctx, key, other)
	// When in doubt it lives: taking its labels would be the worse mistake.
	known[key] = err == nil && other.DeletionTimestamp.IsZero() || client.IgnoreNotFound(err) != nil
	return known[key]
}

// labelledBy says whether one of the selections labels orphans of the definition's kind.
func (r *CatalogSelectionReconciler) labelledBy(others []*v1alpha1.CatalogSelection, object *liveMeta) bool {
	kind := object.GroupVersionKind().GroupKind()
	for _, other := range others {
		if other.Spec.Cluster.Unmanaged == v1alpha1.UnmanagedLabelled &&
			len(r.anyOfKind([]*v1alpha1.CatalogSelection{other}, kind)) > 0 {
			return true
		}
	}
	return false
}

// markOrphan labels a definition as unmanaged and takes off the labels of the selection that it
// left, which Flux has set and does not look at any more once the artifact is applied. It returns
// whether the definition has the label.
func (r *CatalogSelectionReconciler) markOrphan(ctx context.Context, cs *v1alpha1.CatalogSelection, object *liveMeta, applied bool) (bool, error) {
	labelled := object.Labels[v1alpha1.UnmanagedLabel] == "true"
	if !applied {
		return labelled, nil
	}
	if !labelled {
		if done, err := r.apply(ctx, cs, object, marks{unmanaged: true}); err != nil || !done {
			return false, err
		}
	}
	gone := map[string]any{}
	for _, key := range []string{v1alpha1.NameLabel, v1alpha1.NamespaceLabel} {
		if _, there := object.Labels[key]; there {
			gone[key] = nil
		}
	}
	if object.Labels[v1alpha1.ManagedByLabel] == v1alpha1.ManagedByValue {
		gone[v1alpha1.ManagedByLabel] = nil
	}
	if len(gone) == 0 {
		return true, nil
	}
	// Without the version of what was read: setting the label has just raised it.
	return true, r.patch(ctx, cs, object, map[string]any{"uid": object.UID, "labels": gone})
}

// unmarkAdmitted removes the mark that the admission policy has set, which is no field manager's.
// While the label is there, the policy would set it again.
func (r *CatalogSelectionReconciler) unmarkAdmitted(ctx context.Context, cs *v1alpha1.CatalogSelection, object *liveMeta) error {
	return r.patch(ctx, cs, object, map[string]any{
		"uid": object.UID, "resourceVersion": object.ResourceVersion,
		"annotations": map[string]any{reconcileAnnotation: nil, v1alpha1.BypassMarkAnnotation: nil},
	})
}

// marks are all that the field manager of the marks sets on one definition.
type marks struct {
	bypass, unmanaged bool
}

// apply sets exactly these marks, and so removes the other ones of ours. The UID keeps it from
// creating a definition that was deleted meanwhile. It forces nobody's field, and returns whether
// the marks are set.
func (r *CatalogSelectionReconciler) apply(ctx context.Context, cs *v1alpha1.CatalogSelection, object *liveMeta, m marks) (bool, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(object.GroupVersionKind())
	u.SetName(object.Name)
	u.SetNamespace(object.Namespace)
	u.SetUID(object.UID)
	if m.bypass {
		u.SetAnnotations(map[string]string{reconcileAnnotation: disabled})
	}
	if m.unmanaged {
		u.SetLabels(map[string]string{v1alpha1.UnmanagedLabel: "true"})
	}
	account, err := r.accountOf(cs)
	if err != nil {
		return false, err
	}
	err = account.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(marksOwner))
	return r.marking(ctx, cs, object, err)
}

func (r *CatalogSelectionReconciler) patch(ctx context.Context, cs *v1alpha1.CatalogSelection, object *liveMeta, metadata map[string]any) error {
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	account, err := r.accountOf(cs)
	if err != nil {
		return err
	}
	target := &liveMeta{TypeMeta: object.TypeMeta}
	target.Name, target.Namespace = object.Name, object.Namespace
	err = account.Patch(ctx, target, client.RawPatch(types.MergePatchType, body), client.FieldOwner(marksOwner))
	_, err = r.marking(ctx, cs, object, err)
	return err
}

// marking judges the error of a write, and says whether it was done. A definition that is gone needs no mark; one that was
// changed meanwhile comes back by the watch. What somebody else has set otherwise is theirs.
func (r *CatalogSelectionReconciler) marking(ctx context.Context, cs *v1alpha1.CatalogSelection, object *liveMeta, err error) (bool, error) {
	switch {
	case err == nil:
		return true, nil
	case apierrors.IsForbidden(err):
		r.sayForbidden(ctx, cs, err, "definitions are not marked")
	case apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict):
		r.sayForbidden(ctx, cs, err, "the definition "+object.Name+" is not marked")
	case apierrors.IsConflict(err), apierrors.IsNotFound(err), madeAnew(err):
	default:
		return false, fmt.Errorf("marking %s %s: %w", object.Kind, object.Name, err)
	}
	return false, nil
}

// madeAnew says whether a write was refused because the definition has another UID by now.
func madeAnew(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}
