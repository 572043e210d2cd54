// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// kindsToMark returns the published kinds, and the kinds published before: the last definition of a kind may
// have left the artifact with a mark.
func (o *Objects) kindsToMark(cs *v1alpha1.CatalogSelection, published []safeguard.Definition) []schema.GroupVersionKind {
	gvks := guard.Kinds(published)
	for _, gvk := range o.Kinds.Subscriptions(client.ObjectKeyFromObject(cs)) {
		if gvk != consumers.KustomizationKind && !slices.Contains(gvks, gvk) {
			gvks = append(gvks, gvk)
		}
	}
	return gvks
}

// withApplied adds the kinds that Kustomizations of this cluster have in their inventories, from which they may prune.
func (o *Objects) withApplied(ctx context.Context, consumed consumers.Consumers, gvks []schema.GroupVersionKind) ([]schema.GroupVersionKind, error) {
	for _, item := range consumed.Local() {
		ks, err := o.Kustomizations.Get(ctx, item.Key())
		if err != nil {
			return nil, err
		}
		for _, applied := range inventory.Kinds(ks) {
			if !slices.ContainsFunc(gvks, func(gvk schema.GroupVersionKind) bool { return gvk.GroupKind() == applied.GroupKind() }) {
				gvks = append(gvks, applied)
			}
		}
	}
	return gvks, nil
}

// Keep ends the watches of kinds that the selection neither publishes nor rendered last, once no live
// object of the kind has its labels or a mark: the watches of a catalog with other kinds in each revision must
// not accumulate.
func (o *Objects) Keep(cs *v1alpha1.CatalogSelection, state *State) {
	kept := append(guard.Kinds(state.artifact), consumers.KustomizationKind)
	if inspected, ok := o.inspected.Load(cs.UID); ok {
		kept = append(kept, inspected.([]schema.GroupVersionKind)...)
	}
	for _, object := range state.Live {
		if gvk := object.GroupVersionKind(); (guard.AppliedBy(cs, object) || Marked(object)) && !slices.Contains(kept, gvk) {
			kept = append(kept, gvk)
		}
	}
	o.Kinds.Keep(client.ObjectKeyFromObject(cs), kept...)
}

// Absent returns the kinds that the API server does not serve.
func (o *Objects) Absent(kinds []schema.GroupVersionKind) ([]schema.GroupVersionKind, error) {
	var absent []schema.GroupVersionKind
	for _, kind := range kinds {
		served, err := o.Kinds.Serves(kind)
		if err != nil {
			return nil, err
		}
		if !served {
			absent = append(absent, kind)
		}
	}
	return absent, nil
}
