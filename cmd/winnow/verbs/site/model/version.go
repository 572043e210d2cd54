// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Version is a version of an application.
type Version struct {
	// Name is from the catalog, and Label the one that people see.
	Name, Label string
	// Chart names the chart and its version, and Source has its address; both are empty without one.
	Chart  string
	Source Link
	// Channels that have it, Requires of the platform, the message of its deprecation, and other facts on it.
	Channels, Requires []string
	Deprecated         string
	Facts              []Pair
	// Default reports that it is the default version.
	Default bool
}

func newVersion(a *catalog.Application, addresses render.Addresses, index int, isDefault bool) Version {
	name := a.Versions[index]
	facts := a.Metadata.Versions.Of(name)
	v := Version{Name: name, Label: cmp.Or(facts.Label, name), Channels: facts.Channels, Deprecated: facts.Deprecated, Default: isDefault}
	for _, requirement := range facts.Requires {
		v.Requires = append(v.Requires, requirement.String())
	}
	others := report.AllFactsOf(a, name)
	for _, key := range slices.Sorted(maps.Keys(others)) {
		if !slices.Contains([]string{"channels", "requires", "deprecated"}, key) {
			v.Facts = append(v.Facts, Pair{key, excerpt.To(redact.Users(textOf(others[key])), maxFact)})
		}
	}
	if chart := report.ChartOf(addresses, index); chart != nil {
		v.Source = newLink("source", chart.From)
		parts := []string{chart.Name, chart.Version, chart.Tag, chart.Branch, chart.Commit}
		v.Chart = redact.Users(strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " "))
	}
	return v
}
