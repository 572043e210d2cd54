// SPDX-License-Identifier: Apache-2.0

// Package layers finds, for each value of an instance, the layer of a selection that sets it.
//
// It is pure, and it merges nothing: it explains values that a backend has merged. It must not know the kinds of
// objects that carry them.
package layers

import (
	"reflect"
	"slices"

	"github.com/winnow-dev/winnow/render/each"
)

// Layer is a set of values, as one member of a spec or of a definition has them.
type Layer struct {
	// Name of the layer, such as spec.values[0].defaults.
	Name   string
	Values map[string]any
}

// Patches is the name of the layer of what patches set.
const Patches = "spec.patches"

// Input are the values of an instance, and the layers that they come from.
type Input struct {
	// Defaults are the layers of the default values, and Inline the layers of the values that win over
	// valuesFrom; the highest first.
	Defaults, Inline []Layer
	// Built are the values of the artifact before patches, and Patched those after them.
	Built, Patched Values
	// References are the paths of single values that only the cluster has, in the dot notation of Helm; empty for a
	// document of values.
	References []string
}

// Values of the objects of an instance. Inline values win over valuesFrom, and these over default values.
type Values struct {
	Defaults, Inline map[string]any
}

// Leaf is a value that is no mapping, or an empty one.
type Leaf struct {
	// Path of keys.
	Path  []string
	Value any
	// Layer that sets it, and Over the lower layers that set it too, the highest first.
	Layer string
	Over  []string
	// Deleted is true for a null: it deletes what lower layers and the chart have.
	Deleted bool
	// Replaceable is true for a default value that one of References may replace.
	Replaceable bool
}

// Explain returns the values, sorted by path.
func Explain(in Input) []Leaf {
	all := slices.DeleteFunc(Leaves(in.Patched.Inline), in.isMergedInto)
	for i := range all {
		all[i].Deleted = all[i].Value == nil
		in.attribute(&all[i], in.Built.Inline, slices.Concat(in.Inline, in.Defaults))
	}
	for _, leaf := range Leaves(in.Patched.Defaults) {
		if _, replaced := lookup(in.Patched.Inline, leaf.Path); replaced != missing {
			continue // only a patch brings this about
		}
		leaf.Replaceable = slices.ContainsFunc(in.References, func(path string) bool { return path == "" || related(leaf.Path, Split(path)) })
		leaf.Deleted = leaf.Value == nil
		in.attribute(&leaf, in.Built.Defaults, in.Defaults)
		all = append(all, leaf)
	}
	all = append(all, in.unwritten()...)
	slices.SortFunc(all, func(a, b Leaf) int { return slices.Compare(a.Path, b.Path) })
	return all
}

// isMergedInto reports whether an inline leaf is an empty mapping that is merged into the members of a default value, and
// so sets nothing.
func (in Input) isMergedInto(leaf Leaf) bool {
	members, isMapping := leaf.Value.(map[string]any)
	if !isMapping || len(members) > 0 {
		return false
	}
	under := in.Patched.Defaults
	for _, key := range leaf.Path {
		under, _ = under[key].(map[string]any)
	}
	return len(under) > 0
}

// attribute sets the layer of a leaf: the first that has it, unless the value is none of those before patches.
func (in Input) attribute(leaf *Leaf, built map[string]any, all []Layer) {
	found := setting(leaf.Path, all)
	if value, is := lookup(built, leaf.Path); is != exact || !reflect.DeepEqual(value, leaf.Value) {
		leaf.Layer, leaf.Over = Patches, names(found)
		return
	}
	i := slices.IndexFunc(found, func(l Layer) bool { _, is := lookup(l.Values, leaf.Path); return is == exact })
	if i >= 0 {
		leaf.Layer, leaf.Over = found[i].Name, names(found[i+1:])
	}
}

// unwritten returns the nulls of layers that the objects lack, because nothing is under them there.
func (in Input) unwritten() []Leaf {
	var all []Leaf
	for i, layer := range in.Inline {
		for _, leaf := range Leaves(layer.Values) {
			_, written := lookup(in.Patched.Inline, leaf.Path)
			if leaf.Value != nil || written != missing || len(setting(leaf.Path, in.Inline[:i])) > 0 {
				continue
			}
			leaf.Deleted, leaf.Layer = true, layer.Name
			leaf.Over = names(setting(leaf.Path, slices.Concat(in.Inline[i+1:], in.Defaults)))
			all = append(all, leaf)
		}
	}
	return all
}

// Winner returns the layer whose inline value wins over one at a path in the dot notation of Helm; empty if there is
// none.
func (in Input) Winner(path string) string {
	if winners := setting(Split(path), in.Inline); path != "" && len(winners) > 0 {
		return winners[0].Name
	}
	return ""
}

// setting returns the layers that set something at a path, or that have a value in place of a mapping above it.
func setting(path []string, all []Layer) []Layer {
	return each.Where(all, func(layer Layer) bool {
		_, is := lookup(layer.Values, path)
		return is != missing
	})
}

func names(all []Layer) []string {
	return each.Map(all, func(layer Layer) string { return layer.Name })
}
