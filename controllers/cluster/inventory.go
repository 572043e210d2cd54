package cluster

import (
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

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

// overlap reports whether a and b share a key.
func overlap(a, b Keys) bool {
	if len(b) < len(a) {
		a, b = b, a
	}
	for key := range a {
		if b[key] {
			return true
		}
	}
	return false
}

func compareKeys(a, b safeguard.Key) int { return strings.Compare(a.String(), b.String()) }
