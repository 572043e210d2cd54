// SPDX-License-Identifier: Apache-2.0

// Package effects compares what is about to be published with live objects: what live objects lose when the new ones
// are applied over them, and which objects Flux prunes. It must not know which changes the safeguards hold.
package effects

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Effects are what a publication does to live objects. Objects is required.
type Effects struct {
	Objects *live.Objects
}

// Adopted returns the changes to live definitions that the selection does not publish yet. It leaves out
// definitions that Flux does not change because of a bypass; except where this process could not mark them.
func (e *Effects) Adopted(ctx context.Context, cs *v1alpha1.CatalogSelection,
	published []safeguard.Definition, result *render.Result, state *live.State) ([]safeguard.Change, error) {
	adopted, err := guard.Adoption{
		Selection: cs, Published: published, Result: result, Live: state.Live, MostSettings: maxSettings,
		Names:  state.Consumers.Names(),
		First:  cs.Status.Artifact == nil && !state.Consumers.Known,
		Marked: func(object *guard.Live) bool { return guard.Honored(cs, object) && !state.Unmarked[object.UID] },
	}.Compare(ctx, &reader{e.Objects, cs})
	if err != nil {
		return nil, err
	}
	kinds := map[safeguard.Key]schema.GroupVersionKind{}
	for _, d := range adopted.Entering {
		kinds[d.Key()] = schema.FromAPIVersionAndKind(d.APIVersion, d.Kind)
	}
	return e.Objects.Accounts.WithoutUnreadable(ctx, cs, adopted.Changes, kinds)
}

// maxSettings bounds the number of definitions whose settings are compared: status.held lists no more.
const maxSettings = 100

// reader reads live objects for a selection.
type reader struct {
	*live.Objects
	selection *v1alpha1.CatalogSelection
}

// Each reports a right that lacks, without which operators are not guarded.
func (r *reader) Each(ctx context.Context, gvk schema.GroupVersionKind, do func(unstructured.Unstructured)) error {
	return r.EachReadable(ctx, r.selection, gvk, "operators of OLM that others have installed are not guarded", do)
}

// Pruned returns the objects that the consumers delete once they apply the render: those in their
// inventories that it lacks.
func (e *Effects) Pruned(ctx context.Context, consumed consumers.Consumers, next *render.Result) ([]safeguard.Change, error) {
	var pruned []safeguard.Change
	for _, item := range consumed.Items {
		if !item.Prune {
			continue
		}
		ks, err := e.Objects.Kustomizations.Get(ctx, item.Key())
		if err != nil {
			return nil, err
		}
		if ks == nil {
			continue
		}
		applied := inventory.Keys{}
		for _, d := range next.Live() {
			applied[item.Live(d.Key())] = true
		}
		for _, key := range next.Supporting {
			applied[item.Live(key)] = true
		}
		for key := range inventory.Of(ks) {
			replaced := len(next.Instances) > 0 && backend.IsReplaceable(key.Group, key.Kind, key.Name)
			if !applied[key] && !replaced {
				pruned = append(pruned, safeguard.Change{Reason: v1alpha1.RemovalReason, Key: item.Rendered(key), Consumer: item.Key().String()})
			}
		}
	}
	safeguard.Sort(pruned)
	return slices.CompactFunc(pruned, func(a, b safeguard.Change) bool { return a.Key == b.Key }), nil
}
