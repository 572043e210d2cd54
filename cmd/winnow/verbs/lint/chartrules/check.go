// SPDX-License-Identifier: Apache-2.0

// Package chartrules says what is wrong with charts that were rendered for versions of Kubernetes. It must not know where charts
// come from, nor the files that name them.
package chartrules

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/removedapis"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
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
	// Charts are the renders of each chart, for several versions of Kubernetes. Patches may give a version twice, with other charts.
	Charts [][]Render
	// SetBy has, by the name of an instance, the top-level keys of values that it sets itself. Its other values are shared by all
	// versions of an application.
	SetBy map[string]map[string]bool
	// HasPlatform reports whether the versions of Kubernetes are the clusters'.
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

// checker checks charts, one after the other.
type checker struct {
	// renders of one chart, for several versions of Kubernetes.
	renders     []Render
	hasPlatform bool
	found       []Problem
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

// Check returns the problems in the order of the charts, and then problems of values that versions share.
func Check(in Input) []Problem {
	c := checker{hasPlatform: in.HasPlatform}
	for _, renders := range in.Charts {
		if c.renders = renders; len(renders) > 0 {
			c.check(in.SetBy)
		}
	}
	c.unreadDefaults(in)
	return c.found
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

// unreadDefaults adds the problems with values that all versions of an application share. A version may leave out a value that is for
// another one, so these are values that no version reads.
func (c *checker) unreadDefaults(in Input) {
	shared := map[string]map[string]string{} // by application: the keys that no chart of its versions reads, with the nearest key of each
	unknown := map[string]bool{}             // applications with a chart that could not be looked into, so that it may read any key
	for _, r := range slices.Concat(in.Charts...) {
		chart := r.Chart
		if chart.Missing != "" || chart.Failure != nil {
			unknown[chart.Application] = true
		}
		for i := range chart.Rendered {
			unread := map[string]string{}
			for _, key := range chart.Rendered[i].Mirrored.Unread {
				if !in.SetBy[chart.Uses[i].Instance][key.Name] {
					unread[key.Name] = key.Nearest
				}
			}
			known, found := shared[chart.Application]
			if !found {
				shared[chart.Application] = unread
				continue
			}
			maps.DeleteFunc(known, func(key, _ string) bool { _, both := unread[key]; return !both })
		}
	}
	for _, name := range slices.Sorted(maps.Keys(shared)) {
		if unknown[name] {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(shared[name])) {
			c.add(Problem{Application: name, Key: key}, lint.UnreadValueRule, rules.Warning,
				"no chart of the application reads the default value %s%s", excerpt.Quoted(key), advice(shared[name][key]))
		}
	}
}

// maxObjects bounds the objects of a render that are reported.
const maxObjects = 20

// sentence is what a render shows, with the versions of Kubernetes for which it does.
type sentence struct {
	Problem

	versions []string
}

// sentences are sorted by their first occurrence.
type sentences []sentence

func (all *sentences) add(kubernetes, rule string, severity rules.Severity, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	for i, one := range *all {
		if one.Rule == rule && one.Message == message {
			(*all)[i].versions = append(one.versions, Minor(kubernetes))
			return
		}
	}
	*all = append(*all, sentence{Problem{Rule: rule, Severity: severity, Message: message}, []string{Minor(kubernetes)}})
}

// rendered adds what the renders of a use show, once for all versions of Kubernetes.
func (c *checker) rendered(about Problem, use int) {
	var all sentences
	for _, render := range c.renders {
		r := render.Chart.Rendered[use].Mirrored
		switch {
		case r.By == rendering.BySchema:
			all.add(render.Kubernetes, lint.ValuesSchemaRule, c.severity(render.Chart.Uses[use], r.By), "%s", r.Refused)
		case r.Refused != "":
			all.add(render.Kubernetes, lint.ChartRenderRule, c.severity(render.Chart.Uses[use], r.By), "it does not render: %s", r.Refused)
		}
		for _, note := range r.Notes {
			all.add(render.Kubernetes, lint.UncheckedChartRule, rules.Info, "%s", note)
		}
		c.removed(&all, r.Manifests, render.Kubernetes)
	}
	for _, one := range all {
		suffix := ""
		if len(one.versions) < len(c.renders) {
			suffix = " (with Kubernetes " + strings.Join(one.versions, ", ") + ")"
		}
		c.add(about, one.Rule, one.Severity, "%s%s", one.Message, suffix)
	}
}

// severity returns the severity of a chart that does not render. An instance, or the cluster, may set a value that it needs.
func (c *checker) severity(use charts.Use, by rendering.Refusal) rules.Severity {
	switch {
	case by == rendering.ByChart, by == rendering.ByKubernetes && c.hasPlatform:
		return rules.Error
	case by == rendering.ByDependencies:
		return rules.Warning
	case by == rendering.ByKubernetes, use.Instance == "", use.IsOpen:
		return rules.Info
	case by == rendering.ByCluster:
		return rules.Warning
	}
	return rules.Error
}

// removed adds the objects that a version of Kubernetes does not serve. Clusters may have an older one, unless it is theirs.
func (c *checker) removed(all *sentences, manifests []rendering.Manifest, kubernetes string) {
	severity := rules.Warning
	if c.hasPlatform {
		severity = rules.Error
	}
	left := maxObjects
	for _, m := range manifests {
		objects, err := removedapis.Objects(m.Text, kubernetes)
		if err != nil {
			all.add(kubernetes, lint.UncheckedChartRule, rules.Info, "%s cannot be searched: %v", m.Path, err)
		}
		for _, o := range objects[:min(len(objects), left)] {
			left--
			instead := ""
			if o.Instead != "" {
				instead = ": use " + o.Instead
			}
			all.add(kubernetes, lint.RemovedAPIRule, severity, "%s has the %s %s of %s, which Kubernetes 1.%d has removed%s",
				m.Path, o.Kind, excerpt.Of(o.Name), o.Version, o.Minor, instead)
		}
	}
}
