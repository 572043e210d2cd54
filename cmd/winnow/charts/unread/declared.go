// SPDX-License-Identifier: Apache-2.0

package unread

import (
	"cmp"
	"slices"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
)

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
