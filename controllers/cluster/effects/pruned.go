// SPDX-License-Identifier: Apache-2.0

package effects

import (
	"context"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Pruned returns the objects that the consumers delete once they apply the render: those in their
// inventories that it lacks.
func (e *Effects) Pruned(ctx context.Context, consumed consumers.Consumers, next *render.Result) ([]safeguard.Change, error) {
	var pruned []safeguard.Change
	for _, item := range consumed.Items {
		if !item.Prune {
			continue
		}
		ks, err := e.Kustomizations.Get(ctx, item.Key())
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
