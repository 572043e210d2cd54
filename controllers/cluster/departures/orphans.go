// SPDX-License-Identifier: Apache-2.0

package departures

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/marks"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// UnkeptError reports objects that leave with deletionPolicy Orphan, and that Flux would delete all the same.
type UnkeptError struct{ Reasons []v1alpha1.HeldReason }

func (e *UnkeptError) Error() string { return e.Reasons[0].Message }

// keep makes sure that Flux deletes none of the objects that leave with deletionPolicy Orphan: the annotation of the live object
// decides, not the one in the artifact, which an admission policy or a patch may have removed, or which Flux has not applied yet.
// The error is an *UnkeptError if an object gets no mark.
func (ds *Departures) keep(ctx context.Context, cs *v1alpha1.CatalogSelection, objects map[safeguard.Key]*guard.Live) error {
	var reasons []v1alpha1.HeldReason
	for _, key := range slices.SortedFunc(maps.Keys(objects), inventory.Compare) {
		object := objects[key]
		if guard.StaysUntouched(cs, object) || !object.DeletionTimestamp.IsZero() {
			continue
		}
		err := ds.Marks.Keep(ctx, cs, object)
		refused, ok := errors.AsType[*marks.Refused](err)
		switch {
		case err == nil:
			ds.Marks.Events.Eventf(cs, corev1.EventTypeNormal, v1alpha1.HandoverReason, "%s is kept in the cluster: it leaves with deletionPolicy Orphan", key.Name)
		case ok:
			reasons = append(reasons, unkept(key, object, refused))
		case errors.Is(err, marks.ErrChanged):
			return changes(key)
		default:
			return err
		}
	}
	if len(reasons) > 0 {
		return &UnkeptError{reasons}
	}
	return nil
}

// unkept returns the reason of a hold: which object would be deleted, why, and what to do.
func unkept(key safeguard.Key, object *guard.Live, refused *marks.Refused) v1alpha1.HeldReason {
	name, why := key.FullName(), refused.Error()
	if !key.IsDefinition() {
		name, why = key.Kind+" "+name, why+": set the annotation by hand"
	}
	if key.Kind == "HelmRelease" {
		why += "; or set spec.suspend: true, with which helm-controller uninstalls nothing, and delete the HelmRelease by hand"
	}
	return v1alpha1.HeldReason{Reason: v1alpha1.PruneNotDisabledReason, Application: name, Message: fmt.Sprintf(
		"the Kustomization %s would delete its live object, because that lacks the annotation %s: %s, which deletionPolicy Orphan needs: %s",
		guard.OwnerOf(object), guard.PruneAnnotation, guard.Disabled, why)}
}
