package cluster

import (
	"context"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Keys is a set of live objects. It must not be modified once it is shared.
type Keys map[safeguard.Key]bool

// without returns the keys that others lacks.
func (k Keys) without(others Keys) Keys {
	rest := Keys{}
	for key := range k {
		if !others[key] {
			rest[key] = true
		}
	}
	return rest
}

// inventoryOf returns the keys of the objects that a Kustomization has applied and not deleted.
//
// An entry is <namespace>_<name>_<group>_<kind>; in names, "__" stands for a colon.
func inventoryOf(ks *kustomizev1.Kustomization) Keys {
	inventory := Keys{}
	if ks.Status.Inventory == nil {
		return inventory
	}
	for _, entry := range ks.Status.Inventory.Entries {
		if key, ok := parseEntry(entry.ID); ok {
			inventory[key] = true
		}
	}
	return inventory
}

func parseEntry(id string) (safeguard.Key, bool) {
	namespace, rest, ok := strings.Cut(id, "_")
	kind := strings.LastIndexByte(rest, '_')
	if !ok || kind < 0 {
		return safeguard.Key{}, false
	}
	group := strings.LastIndexByte(rest[:kind], '_')
	if group < 0 {
		return safeguard.Key{}, false
	}
	return safeguard.Key{
		Group: rest[group+1 : kind], Kind: rest[kind+1:], Namespace: namespace, Name: strings.ReplaceAll(rest[:group], "__", ":"),
	}, true
}

// Pruned returns the objects that the consumers delete once they apply the render: those in their
// inventories that it lacks.
func (c *Cluster) Pruned(ctx context.Context, consumed Consumers, next *render.Result) ([]safeguard.Change, error) {
	var pruned []safeguard.Change
	for _, item := range consumed.items {
		if !item.prune {
			continue
		}
		ks, err := c.kustomization(ctx, item.key())
		if err != nil {
			return nil, err
		}
		if ks == nil {
			continue
		}
		applied := Keys{}
		for _, d := range next.Live() {
			applied[item.live(d.Key())] = true
		}
		for _, key := range next.Supporting {
			applied[item.live(key)] = true
		}
		for key := range inventoryOf(ks) {
			replaced := len(next.Instances) > 0 && backend.IsReplaceable(key.Group, key.Kind, key.Name)
			if !applied[key] && !replaced {
				pruned = append(pruned, safeguard.Change{Reason: v1alpha1.RemovalReason, Key: item.rendered(key), Consumer: item.key().String()})
			}
		}
	}
	safeguard.Sort(pruned)
	return slices.CompactFunc(pruned, func(a, b safeguard.Change) bool { return a.Key == b.Key }), nil
}
