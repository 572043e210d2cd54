// SPDX-License-Identifier: Apache-2.0

package protection

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/layers"
)

// unheld returns a protection if upgrades of instances are held less than before.
func unheld(from, to string) []diff.Loosened {
	const field = "spec.safeguards.onInstanceUpgrade"
	was, is := cmp.Or(from, v1alpha1.SafeguardHoldMajor), cmp.Or(to, v1alpha1.SafeguardHoldMajor)
	order := []string{v1alpha1.SafeguardHold, v1alpha1.SafeguardHoldMajor, v1alpha1.SafeguardPublish}
	if slices.Index(order, is) <= slices.Index(order, was) {
		return nil
	}
	effect := "instances rise within a major version without approval"
	if is == v1alpha1.SafeguardPublish {
		effect = "instances rise to whatever their ranges, and default versions, allow without approval"
	}
	return []diff.Loosened{{Field: field, From: was, To: is, Effect: effect}}
}

// maxUnlocked bounds the paths in a text.
const maxUnlocked = 10

// unlocked returns a protection for the values that instances of an application can set again.
func unlocked(from, to []v1alpha1.ValuesRule) []diff.Loosened {
	was, is := overridden(from), overridden(to)
	var found []diff.Loosened
	for _, application := range slices.Sorted(maps.Keys(was)) {
		var free []string
		for path := range was[application] {
			if !is[application][path] {
				free = append(free, path)
			}
		}
		slices.Sort(free)
		if len(free) > 0 {
			found = append(found, diff.Loosened{
				Field: fmt.Sprintf("spec.values[%s].instanceOverrides", application), From: excerpt.Names(free, maxUnlocked), To: "none",
				Effect: "instances of " + application + " can set these values",
			})
		}
	}
	return found
}

// overridden maps applications to the set of the paths of the values that no instance can change.
func overridden(rules []v1alpha1.ValuesRule) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, rule := range rules {
		values, err := instance.Values(rule.InstanceOverrides)
		if err != nil {
			continue // such a spec is not rendered
		}
		for _, leaf := range layers.Leaves(values) {
			for _, name := range rule.Names {
				if all[name] == nil {
					all[name] = map[string]bool{}
				}
				all[name][leaf.Text()] = true
			}
		}
	}
	return all
}

// unguarded returns a protection for each instance that is no longer reconciled with the rights of an account of its own,
// and for each whose deletion destroys what Terraform made.
func unguarded(from, to map[string]v1alpha1.Instance) []diff.Loosened {
	var found []diff.Loosened
	for _, name := range slices.Sorted(maps.Keys(to)) {
		was, stays := from[name]
		is := to[name]
		at := fmt.Sprintf("spec.instances[%s].", name)
		if stays && was.ServiceAccountName != "" && is.ServiceAccountName == "" {
			found = append(found, diff.Loosened{
				Field: at + "serviceAccountName", From: was.ServiceAccountName, To: "none", Effect: "its controller installs it with rights of its own",
			})
		}
		if stays && !was.DestroyResources && is.DestroyResources {
			found = append(found, diff.Loosened{
				Field: at + "destroyResources", From: "false", To: "true", Effect: "the deletion of its object destroys what Terraform made, where the definition says so too",
			})
		}
	}
	return found
}

// unserved returns a protection if instances lose the catalog that has the selected packages alone: each kind is for the
// instances of one release of OLM.
func unserved(from, to *v1alpha1.Push) []diff.Loosened {
	was, is := servedBy(from), servedBy(to)
	if was == "" || was == is {
		return nil
	}
	return []diff.Loosened{{
		Field: "spec.push.catalog", From: was, To: cmp.Or(is, "none"),
		Effect: "instances without a catalog are installed from any catalog of the cluster, which may have more versions",
	}}
}

// servedBy returns the kind of the catalog of a push, empty without one.
func servedBy(push *v1alpha1.Push) string {
	if push == nil || push.Catalog == nil {
		return ""
	}
	return push.Catalog.Kind
}
