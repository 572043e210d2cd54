// SPDX-License-Identifier: Apache-2.0

package chartrules

import (
	"errors"

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
