// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/guard"
)

// acyclic returns an error with the reason SourceLoop if a selection has its own artifact as a source, by the artifacts of
// other selections: each publication would cause the next one. Validation refuses its own artifact in the spec.
func (r *CatalogSelectionReconciler) acyclic(ctx context.Context, cs *v1alpha1.CatalogSelection) error {
	own := client.ObjectKeyFromObject(cs)
	// by maps a selection to the one that has its artifact as a source.
	by := map[types.NamespacedName]types.NamespacedName{}
	waiting := []*v1alpha1.CatalogSelection{cs}
	for len(waiting) > 0 {
		of := waiting[0]
		waiting = waiting[1:]
		for _, key := range upstream(of) {
			if key == own && of != cs {
				return failure.Because(v1alpha1.SourceLoopReason, fmt.Errorf(
					"the artifact of this CatalogSelection is a source of its own source: %s; remove one of these sources", chain(own, client.ObjectKeyFromObject(of), by)))
			}
			if _, seen := by[key]; seen || key == own {
				continue
			}
			by[key] = client.ObjectKeyFromObject(of)
			next := &v1alpha1.CatalogSelection{}
			err := r.Get(ctx, key, next)
			if apierrors.IsNotFound(err) {
				continue
			}
			if err != nil {
				return failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("getting the CatalogSelection %s: %w", key, err))
			}
			waiting = append(waiting, next)
		}
	}
	return nil
}

// upstream returns the names of the ExternalArtifacts that are sources of a selection.
func upstream(cs *v1alpha1.CatalogSelection) []types.NamespacedName {
	var keys []types.NamespacedName
	for _, ref := range cs.Spec.Sources {
		if kind, key := guard.SourceKey(cs, ref); kind == sourcev1.ExternalArtifactKind {
			keys = append(keys, key)
		}
	}
	return keys
}

// chain describes the loop from own back to own by the last selection: "a/x reads a/y reads a/x".
func chain(own, last types.NamespacedName, by map[types.NamespacedName]types.NamespacedName) string {
	path := []string{own.String()}
	for key := last; key != own; key = by[key] {
		path = append([]string{key.String()}, path...)
	}
	const most = 500
	return excerpt.To(strings.Join(append([]string{own.String()}, path...), " reads "), most)
}
