// SPDX-License-Identifier: Apache-2.0

package patching

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// CheckObjects returns an error unless the objects with patches are those without: what Flux tracks them by is the same, and
// none is a list.
func CheckObjects(unpatched, patched Objects) error {
	return errors.Join(sameObjects(unpatched, patched), listsNothing(patched))
}

// sameObjects returns an error unless patches keep the group, kind, namespace and name of each object. A namespace counts
// for definitions too: Flux tracks objects by it, and deletes the one that it knew by another.
func sameObjects(unpatched, patched Objects) error {
	before, after := identities(unpatched), identities(patched)
	if lost := lacking(before, after); len(lost) > 0 {
		return fmt.Errorf("patches must not remove or rename objects, or move them to another namespace, but these are gone: %s; use exclude",
			excerpt.Names(lost, refusal.MaxListed))
	}
	if added := lacking(after, before); len(added) > 0 || len(unpatched.All()) != len(patched.All()) {
		return fmt.Errorf("patches must not add objects, but these are new: %s", excerpt.Names(added, refusal.MaxListed))
	}
	return nil
}

// listsNothing returns an error for the objects that patches make a list of. kustomize builds them still, but Flux applies
// their items instead, and deletes what it has applied before.
func listsNothing(patched Objects) error {
	var lists []string
	for _, object := range patched.All() {
		if object.Field(catalog.ItemsField) != nil {
			lists = append(lists, kustomized.KeyOf(object.CurId()).String())
		}
	}
	if len(lists) == 0 {
		return nil
	}
	slices.Sort(lists)
	return fmt.Errorf("patches must not set the field %s, by which Flux takes an object for a list, of %s", catalog.ItemsField, excerpt.Names(lists, refusal.MaxListed))
}

// identities returns what Flux tracks the objects by.
func identities(objects Objects) sets.Set[safeguard.Key] {
	return sets.New(each.Map(objects.All(), func(o *resource.Resource) safeguard.Key { return identityOf(o.CurId()) })...)
}

func identityOf(id resid.ResId) safeguard.Key {
	return safeguard.Key{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
}

// lacking returns the keys of a set that another one lacks, sorted.
func lacking(set, other sets.Set[safeguard.Key]) []string {
	return slices.Sorted(slices.Values(each.Map(set.Difference(other).UnsortedList(), safeguard.Key.String)))
}
