// SPDX-License-Identifier: Apache-2.0

package chartrules

import (
	"errors"
	"fmt"

	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/lint"
	"github.com/winnow-dev/winnow/render/lint/rules"
)

// Render is a chart, rendered for a version of Kubernetes.
type Render struct {
	Chart      charts.Rendered
	Kubernetes string
}

// Input is what is checked.
type Input struct {
	// Renders with those of a version of an application behind each other.
	Renders []Render
	// SetBy has, by the name of an instance, the top-level keys of values that it sets itself. Its other values are shared by all
	// versions of an application.
	SetBy map[string]map[string]bool
	// HasPlatform reports whether the versions of Kubernetes are those of the clusters.
	HasPlatform bool
}

// Problem is what is wrong with the chart of a version, or with its values.
type Problem struct {
	Rule     string
	Severity rules.Severity
	// Application and Version that have the chart. The version is empty for values that all versions share.
	Application, Version string
	// Instance whose values they are; empty for default values.
	Instance string
	// Key is the top-level key of the values; empty if it is about more.
	Key string
	// Message is one line.
	Message string
}

// Check returns the problems, in the order of the renders, and then those of values that versions share.
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

// checker checks one chart, rendered for several versions of Kubernetes.
type checker struct {
	renders     []Render
	hasPlatform bool
	found       []Problem
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
			first.To.Name, first.To.Version, excerpt.Quoted(first.OtherVersion))
	}
	for i, use := range first.Uses {
		about.Instance, about.Key = use.Instance, ""
		if use.IsOpen {
			c.add(about, lint.UncheckedChartRule, rules.Info, "values that only the cluster has are not read")
		}
		c.rendered(about, i)
		for _, key := range first.Rendered[i].To.Unread {
			if setBy[use.Instance][key.Name] {
				about.Key = key.Name
				c.add(about, lint.UnreadValueRule, rules.Warning, "the chart %s %s does not read the value %s%s",
					first.To.Name, first.To.Version, excerpt.Quoted(key.Name), advice(key.Nearest))
			}
		}
	}
}

// failure adds the reason why a chart cannot be looked into.
func (c *checker) failure(about Problem, failure error) {
	rule := lint.ChartRenderRule
	var fetched *charts.FetchError
	switch {
	case errors.As(failure, &fetched):
		rule = lint.ChartNotFoundRule
	case errors.Is(failure, charts.ErrNoChart):
		rule = lint.ChartFormatRule
	case errors.Is(failure, charts.ErrOtherChart):
		rule = lint.ChartNameRule
	}
	c.add(about, rule, rules.Error, "%s", output.WithoutUsers(failure.Error()))
}

// add adds a problem, with a message that fmt.Sprintf makes.
func (c *checker) add(about Problem, rule string, severity rules.Severity, format string, args ...any) {
	about.Rule, about.Severity, about.Message = rule, severity, plaintext.Line(fmt.Sprintf(format, args...))
	c.found = append(c.found, about)
}

// advice is the end of a message on a key that resembles another one.
func advice(nearest string) string {
	if nearest == "" {
		return ""
	}
	return ": did you mean " + excerpt.Quoted(nearest) + "?"
}
