// SPDX-License-Identifier: Apache-2.0

package chartrules

import (
	"errors"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/lint"
	"github.com/winnow-dev/winnow/render/lint/rules"
)

// Check returns the problems in the order of the renders, and then problems of values that versions share.
func Check(in Input) (all []Problem) {
	for left := in.Renders; len(left) > 0; {
		first, same := left[0].Chart, 1
		for same < len(left) && left[same].Chart.Application == first.Application && left[same].Chart.Version == first.Version {
			same++
		}
		c := checker{renders: left[:same], hasPlatform: in.HasPlatform}
		c.check(in.SetBy)
		all = append(all, c.found...)
		left = left[same:]
	}
	return append(all, unreadDefaults(in)...)
}

func (c *checker) check(setBy map[string]map[string]bool) {
	first := c.renders[0].Chart
	about := Problem{Application: first.Application, Version: first.Version}
	for _, r := range c.renders {
		if r.Chart.Failure != nil {
			c.failure(about, r.Chart.Failure)
			return
		}
	}
	if first.Missing != "" {
		c.add(about, lint.UncheckedChartRule, rules.Info, "%s", first.Missing)
		return
	}
	if first.OtherVersion != "" {
		c.add(about, lint.ChartVersionRule, rules.Warning, "the archive of the chart %s %s has the version %s in its Chart.yaml",
			first.Mirrored.Name, first.Mirrored.Version, excerpt.Quoted(first.OtherVersion))
	}
	for i, use := range first.Uses {
		about.Instance, about.Key = use.Instance, ""
		if use.IsOpen {
			c.add(about, lint.UncheckedChartRule, rules.Info, "values that only the cluster has are not read")
		}
		c.rendered(about, i)
		for _, key := range first.Rendered[i].Mirrored.Unread {
			if setBy[use.Instance][key.Name] {
				about.Key = key.Name
				c.add(about, lint.UnreadValueRule, rules.Warning, "the chart %s %s does not read the value %s%s",
					first.Mirrored.Name, first.Mirrored.Version, excerpt.Quoted(key.Name), advice(key.Nearest))
			}
		}
	}
}

// failure adds the reason why a chart cannot be looked into.
func (c *checker) failure(about Problem, failure error) {
	rule := lint.ChartRenderRule
	switch _, unfetched := errors.AsType[*charts.FetchError](failure); {
	case unfetched:
		rule = lint.ChartNotFoundRule
	case errors.Is(failure, charts.ErrNoChart):
		rule = lint.ChartFormatRule
	case errors.Is(failure, charts.ErrOtherChart):
		rule = lint.ChartNameRule
	}
	c.add(about, rule, rules.Error, "%s", failure)
}

// shared are the keys of values of an application that no chart of its versions reads, with the nearest key of each.
type shared struct {
	unread map[string]string
	// unknown reports whether a chart could not be looked into, so that it may read any.
	unknown bool
}

// unreadDefaults returns the problems with values that all versions of an application share. A version may leave out a value that is for
// another one, so these are values that no version reads.
func unreadDefaults(in Input) (all []Problem) {
	applications := map[string]*shared{}
	for _, r := range in.Renders {
		chart := r.Chart
		if chart.Missing != "" || chart.Failure != nil {
			applications[chart.Application] = &shared{unknown: true}
		}
		for i := range chart.Rendered {
			unread := map[string]string{}
			for _, key := range chart.Rendered[i].Mirrored.Unread {
				if !in.SetBy[chart.Uses[i].Instance][key.Name] {
					unread[key.Name] = key.Nearest
				}
			}
			known := applications[chart.Application]
			if known == nil {
				applications[chart.Application] = &shared{unread: unread}
				continue
			}
			maps.DeleteFunc(known.unread, func(key, _ string) bool { _, both := unread[key]; return !both })
		}
	}
	for _, name := range slices.Sorted(maps.Keys(applications)) {
		if applications[name].unknown {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(applications[name].unread)) {
			c := checker{}
			c.add(Problem{Application: name, Key: key}, lint.UnreadValueRule, rules.Warning,
				"no chart of the application reads the default value %s%s", excerpt.Quoted(key), advice(applications[name].unread[key]))
			all = append(all, c.found...)
		}
	}
	return all
}
