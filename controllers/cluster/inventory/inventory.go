// SPDX-License-Identifier: Apache-2.0

// Package inventory has sets of live objects: those that a Kustomization has applied, as its inventory lists them, and
// those that selections serve or claim. It must not know a selection.
package inventory

import (
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Keys is a set of live objects. It must not be modified once it is shared.
type Keys map[safeguard.Key]bool

// Without returns the keys that others lacks.
func (k Keys) Without(others Keys) Keys {
	rest := Keys{}
	for key := range k {
		if !others[key] {
			rest[key] = true
		}
	}
	return rest
}

// Overlap reports whether a and b share a key.
func Overlap(a, b Keys) bool {
	for key := range a {
		if b[key] {
			return true
		}
	}
	return false
}

// Compare orders keys by their texts.
func Compare(a, b safeguard.Key) int { return strings.Compare(a.String(), b.String()) }

// Of returns the keys of the objects that a Kustomization has applied and not deleted.
//
// An entry is <namespace>_<name>_<group>_<kind>; in names, "__" stands for a colon.
func Of(ks *kustomizev1.Kustomization) Keys {
	applied := Keys{}
	if ks.Status.Inventory == nil {
		return applied
	}
	for _, entry := range ks.Status.Inventory.Entries {
		if key, ok := parseEntry(entry.ID); ok {
			applied[key] = true
		}
	}
	return applied
}

// Kinds returns the kinds of the definitions, and of what installs instances, that a Kustomization has applied and not deleted; none of nil.
func Kinds(ks *kustomizev1.Kustomization) (found []schema.GroupVersionKind) {
	if ks == nil || ks.Status.Inventory == nil {
		return nil
	}
	for _, entry := range ks.Status.Inventory.Entries {
		key, ok := parseEntry(entry.ID)
		gvk := schema.GroupVersionKind{Group: key.Group, Version: entry.Version, Kind: key.Kind}
		if ok && (key.IsDefinition() || kinds.IsMain(gvk.GroupKind())) && !slices.Contains(found, gvk) {
			found = append(found, gvk)
		}
	}
	return found
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
