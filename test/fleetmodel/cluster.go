// SPDX-License-Identifier: Apache-2.0

package fleetmodel

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Annotations of live objects that kustomize-controller heeds.
const (
	pruneAnnotation     = "metadata.annotations.kustomize.toolkit.fluxcd.io/prune"
	reconcileAnnotation = "metadata.annotations.kustomize.toolkit.fluxcd.io/reconcile"
	disabled            = "disabled"
)

// fluxManager is the field manager of kustomize-controller.
const fluxManager = "kustomize-controller"

// Cluster is what one Kustomization, with prune: true, has made of the definitions of a cluster.
type Cluster struct {
	live      map[string]*object
	inventory []string
}

// object is a live object: its fields, as Flatten returns them, and the managers of each.
type object struct {
	fields   map[string]any
	managers map[string][]string
}

// NewCluster returns a cluster without definitions.
func NewCluster() *Cluster { return &Cluster{live: map[string]*object{}} }

// Live returns the fields of the live objects by their names.
func (c *Cluster) Live() map[string]map[string]any {
	live := map[string]map[string]any{}
	for name, o := range c.live {
		live[name] = maps.Clone(o.fields)
	}
	return live
}

// Inventory returns the names that the Kustomization has applied last, sorted.
func (c *Cluster) Inventory() []string { return c.inventory }

// Apply applies the objects of an artifact, with their fields by their names, and deletes those that were in the last one
// alone. An object with reconcile: disabled is neither updated nor deleted, and one with prune: disabled not deleted: Flux
// forgets both once they are in no artifact.
func (c *Cluster) Apply(objects map[string]map[string]any) {
	for name, fields := range objects {
		live := c.live[name]
		switch {
		case live == nil:
			live = &object{fields: map[string]any{}, managers: map[string][]string{}}
			c.live[name] = live
		case live.has(reconcileAnnotation):
			continue
		}
		live.apply(fields)
	}
	for _, name := range c.inventory {
		live := c.live[name]
		if _, stays := objects[name]; !stays && live != nil && !live.has(reconcileAnnotation) && !live.has(pruneAnnotation) {
			delete(c.live, name)
		}
	}
	c.inventory = slices.Sorted(maps.Keys(objects))
}

// Edit sets a field of a live object as a client with a field manager of its own does; nil removes it.
func (c *Cluster) Edit(name, manager, path string, value any) {
	live := c.live[name]
	switch {
	case live == nil:
	case value == nil:
		delete(live.fields, path)
		delete(live.managers, path)
	case !reflect.DeepEqual(live.fields[path], value):
		live.fields[path], live.managers[path] = value, []string{manager}
	}
}

// has reports whether an annotation is disabled. Flux ignores the case.
func (o *object) has(annotation string) bool {
	value, _ := o.fields[annotation].(string)
	return strings.EqualFold(value, disabled)
}

// apply is a server-side apply by Flux, which takes every field that it sets, and gives up those that it sets no more: a
// field without a manager is removed.
func (o *object) apply(fields map[string]any) {
	for path, value := range fields {
		if !reflect.DeepEqual(o.fields[path], value) {
			o.fields[path], o.managers[path] = value, nil
		}
		if !slices.Contains(o.managers[path], fluxManager) {
			o.managers[path] = append(o.managers[path], fluxManager)
		}
	}
	for path, managers := range o.managers {
		if _, set := fields[path]; set || !slices.Contains(managers, fluxManager) {
			continue
		}
		o.managers[path] = slices.DeleteFunc(slices.Clone(managers), func(name string) bool { return name == fluxManager })
		if len(o.managers[path]) == 0 {
			delete(o.fields, path)
			delete(o.managers, path)
		}
	}
}
