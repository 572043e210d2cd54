// SPDX-License-Identifier: Apache-2.0

// Package unread finds the top-level keys of values that a chart does not read: neither in its templates, nor for a chart in it.
// Where a template uses the values as a whole, every key counts as read, so a key that is found changes nothing. It runs no
// template, but a chart decides how deep its templates nest, so only a process with limits may call it. It must not know how
// charts are rendered.
package unread

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"

	"github.com/winnow-dev/winnow/render/spelling"
	"github.com/winnow-dev/winnow/render/value"
)

// Key is a top-level key of values that a chart does not read.
type Key struct {
	Name string `json:"name"`
	// Nearest is the key that the chart reads and that resembles it most; empty without one.
	Nearest string `json:"nearest,omitempty"`
}

// Keys returns the top-level keys of values that a chart does not read, sorted. The chart is as it was loaded: Helm has not
// processed its dependencies. Keys of its values.yaml and its values.schema.json count as read, and so do those in which YAML keeps
// anchors: they begin with a dot, "_" or "x-".
func Keys(c *chart.Chart, values map[string]any) []Key {
	r, named := newReads(), map[string]*reads{}
	r.declared(c)
	r.schema(c.Schema)
	r.templates(c, named, false)
	r.follow(named)
	if r.evaluates {
		r.evaluated(c)
		r.strings(values)
		r.follow(named)
	}
	if r.all {
		return nil
	}
	known := slices.Sorted(maps.Keys(r.keys))
	var all []Key
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if r.keys[name] || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || strings.HasPrefix(name, "x-") {
			continue
		}
		key := Key{Name: name}
		if near := spelling.Nearest(name, known); len(near) > 0 {
			key.Nearest = near[0]
		}
		all = append(all, key)
	}
	return all
}

// templates adds what the templates of a chart read, and collects the named templates of it and the charts in it. The files
// of a chart in it have no values but their own.
func (r *reads) templates(c *chart.Chart, named map[string]*reads, isBelow bool) {
	for _, file := range c.Templates {
		trees, err := parsed(string(file.Data))
		r.entirely(err != nil)
		for name, tree := range trees {
			switch {
			case name != fileTemplate:
				if named[name] == nil {
					named[name] = newReads()
				}
				named[name].tree(tree, other)
			case !isBelow:
				r.tree(tree, top)
			}
		}
	}
	for _, sub := range c.Dependencies() {
		r.templates(sub, named, true)
	}
}

// evaluated adds what is read by all that function tpl may be given: the files of a chart, and the texts in its values.
func (r *reads) evaluated(c *chart.Chart) {
	for _, file := range c.Files {
		if path.Ext(file.Name) != ".md" { // those are for people
			r.text(string(file.Data))
		}
	}
	r.strings(c.Values)
	for _, sub := range c.Dependencies() {
		r.evaluated(sub)
	}
}

// strings adds what the texts in a value read.
func (r *reads) strings(value any) {
	switch v := value.(type) {
	case string:
		r.text(v)
	case []any:
		for _, element := range v {
			r.strings(element)
		}
	case map[string]any:
		for _, element := range v {
			r.strings(element)
		}
	}
}

// maxSchemas bounds the schemas in a values.schema.json that are looked into.
const maxSchemas = 1000

// schema adds the properties that a values.schema.json has for the values as a whole. If it has patterns for them, or refers to
// another file, they are all read.
func (r *reads) schema(content []byte) {
	var root map[string]any
	if json.Unmarshal(content, &root) != nil { // Helm refuses the chart
		return
	}
	pending := []value.Value{value.Of(root)}
	for seen := 0; len(pending) > 0; seen++ {
		if seen == maxSchemas {
			r.all = true
			return
		}
		one := pending[0]
		if pending = pending[1:]; one.Mapping() != nil {
			pending = append(pending, r.oneSchema(value.Of(root), one)...)
		}
	}
}

// oneSchema adds the properties of a schema. It returns the schemas in it that are about the same values.
func (r *reads) oneSchema(root, schema value.Value) (further []value.Value) {
	for name := range schema.Get("properties").Mapping() {
		r.keys[name] = true
	}
	_, hasPatterns := schema.Mapping()["patternProperties"]
	r.entirely(hasPatterns)
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		further = append(further, schema.Get(name).Items()...)
	}
	for _, name := range []string{"if", "then", "else"} {
		further = append(further, schema.Get(name))
	}
	for _, dependent := range schema.Get("dependentSchemas").Mapping() {
		further = append(further, value.Of(dependent))
	}
	if reference := schema.Get("$ref"); reference.IsText() {
		further = append(further, r.referred(root, reference.Text()))
	}
	return further
}

// referred returns the schema that a reference leads to; nil if it is in another file.
func (r *reads) referred(root value.Value, reference string) value.Value {
	pointer, isHere := strings.CutPrefix(reference, "#")
	r.entirely(!isHere)
	for element := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if root.Mapping() != nil && element != "" {
			root = root.Get(element)
		}
	}
	return root
}

// declared adds the keys of values.yaml, and the keys that Helm reads for charts in the chart: their names or aliases, conditions,
// tags, and the values that it imports from them.
func (r *reads) declared(c *chart.Chart) {
	r.keys["global"] = true
	for name := range c.Values {
		r.keys[name] = true
	}
	if hasTags(c) {
		r.keys["tags"] = true
	}
	for _, sub := range c.Dependencies() {
		if !declares(c, sub) {
			r.keys[sub.Name()] = true
		}
	}
	for _, d := range c.Metadata.Dependencies {
		r.keys[cmp.Or(d.Alias, d.Name)] = true
		for path := range strings.SplitSeq(d.Condition, ",") {
			r.path(path)
		}
		for _, imported := range d.ImportValues {
			r.imported(c, d.Name, imported)
		}
	}
}

// declares reports whether Chart.yaml lists a chart in a chart, whose key is then its name there, or its alias.
func declares(c, sub *chart.Chart) bool {
	return slices.ContainsFunc(c.Metadata.Dependencies, func(d *chart.Dependency) bool {
		return d.Name == sub.Name() && chartutil.IsCompatibleRange(d.Version, sub.Metadata.Version)
	})
}

// path adds the key that a dotted path begins with.
func (r *reads) path(path string) {
	first, _, _ := strings.Cut(strings.TrimSpace(path), ".")
	r.keys[first] = true
}

// hasTags reports whether a chart, or one in it, has charts with tags.
func hasTags(c *chart.Chart) bool {
	return slices.ContainsFunc(c.Metadata.Dependencies, func(d *chart.Dependency) bool { return len(d.Tags) > 0 }) ||
		slices.ContainsFunc(c.Dependencies(), hasTags)
}

// imported adds the keys below which the values of a chart in a chart are imported.
func (r *reads) imported(c *chart.Chart, name string, imported any) {
	child, parent := "", "."
	switch v := imported.(type) {
	case string:
		child = "exports." + v
	case map[string]any:
		child, _ = v["child"].(string)
		parent, _ = v["parent"].(string)
	}
	if parent != "." {
		r.path(parent)
		return
	}
	for _, sub := range c.Dependencies() {
		if sub.Name() != name {
			continue
		}
		values := sub.Values
		for key := range strings.SplitSeq(child, ".") {
			values, _ = values[key].(map[string]any)
		}
		for key := range values {
			r.keys[key] = true
		}
	}
}
