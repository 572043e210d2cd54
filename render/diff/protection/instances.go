// SPDX-License-Identifier: Apache-2.0

package protection

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/layers"
)

// unheld adds a protection if upgrades of instances are held less than before.
func (l *loosened) unheld(from, to string) {
	was, is := cmp.Or(from, v1alpha1.SafeguardHoldMajor), cmp.Or(to, v1alpha1.SafeguardHoldMajor)
	order := []string{v1alpha1.SafeguardHold, v1alpha1.SafeguardHoldMajor, v1alpha1.SafeguardPublish}
	if slices.Index(order, is) <= slices.Index(order, was) {
		return
	}
	effect := "instances rise within a major version without approval"
	if is == v1alpha1.SafeguardPublish {
		effect = "instances rise to whatever their ranges, and default versions, allow without approval"
	}
	l.add("safeguards.onInstanceUpgrade", was, is, effect)
}

// maxUnlocked bounds the paths in a text.
const maxUnlocked = 10

// unlocked adds a protection for the values that instances of an application can set again.
func (l *loosened) unlocked(from, to []v1alpha1.ValuesRule) {
	was, is := overridden(from), overridden(to)
	for _, application := range slices.Sorted(maps.Keys(was)) {
		var free []string
		for path := range was[application] {
			if !is[application][path] {
				free = append(free, path)
			}
		}
		slices.Sort(free)
		if len(free) > 0 {
			l.add(fmt.Sprintf("values[%s].instanceOverrides", application), excerpt.Names(free, maxUnlocked), "none",
				"instances of "+application+" can set these values")
		}
	}
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

// unguarded adds a protection for each instance that is no longer reconciled with the rights of an account of its own,
// and for each whose deletion destroys what Terraform made.
func (l *loosened) unguarded(from, to map[string]v1alpha1.Instance) {
	for _, name := range slices.Sorted(maps.Keys(to)) {
		was, stays := from[name]
		is := to[name]
		at := fmt.Sprintf("instances[%s].", name)
		if stays && was.ServiceAccountName != "" && is.ServiceAccountName == "" {
			l.add(at+"serviceAccountName", was.ServiceAccountName, "none", "its controller installs it with rights of its own")
		}
		if stays && !was.DestroyResources && is.DestroyResources {
			l.add(at+"destroyResources", "false", "true", "the deletion of its object destroys what Terraform made, where the definition says so too")
		}
	}
}

// unserved adds a protection if instances lose the catalog that has the selected packages alone: each kind is for the
// instances of one release of OLM.
func (l *loosened) unserved(from, to *v1alpha1.Push) {
	if was, is := servedBy(from), servedBy(to); was != "" && was != is {
		l.add("push.catalog", was, cmp.Or(is, "none"),
			"instances without a catalog are installed from any catalog of the cluster, which may have more versions")
	}
}

// servedBy returns the kind of the catalog of a push, empty without one.
func servedBy(push *v1alpha1.Push) string {
	if push == nil || push.Catalog == nil {
		return ""
	}
	return push.Catalog.Kind
}
