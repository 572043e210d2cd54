// SPDX-License-Identifier: Apache-2.0

package unread

import (
	"maps"
	"slices"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/winnow-dev/winnow/render/spelling"
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
