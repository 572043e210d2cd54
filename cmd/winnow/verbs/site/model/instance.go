// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// Instance is one of a selection whose application has a higher version there than it installs.
type Instance struct {
	Name, Application string
	// Version and Latest are labels.
	Version, Latest string
	Clusters        []string
}

// outdated returns the instances with a lower version than their selection has, sorted by name, application and version.
func outdated(published []selections.Published) []Instance {
	type key struct{ name, application, version, latest string }
	clusters := map[key][]string{}
	for _, p := range published {
		if p.Side == nil || len(p.Side.Result.Instances) == 0 {
			continue
		}
		decided := map[string]selection.Decision{}
		for _, d := range p.Side.Result.Selection.Applications() {
			decided[d.Application.Name] = d
		}
		for _, in := range p.Side.Result.Instances {
			d, known := decided[in.Application]
			if !known {
				continue
			}
			facts := d.Application.Metadata.Versions.Of(in.Version)
			latest, number := latestOf(d.Application, d.Versions)
			if safeguard.IsLower(number, facts.Numbered()) {
				k := key{in.Name, in.Application, cmp.Or(facts.Label, in.Version), latest}
				clusters[k] = append(clusters[k], p.In())
			}
		}
	}
	var all []Instance
	for _, k := range slices.SortedFunc(maps.Keys(clusters), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.application, b.application), cmp.Compare(a.version, b.version), cmp.Compare(a.latest, b.latest))
	}) {
		all = append(all, Instance{k.name, k.application, k.version, k.latest, slices.Compact(clusters[k])})
	}
	return all
}
