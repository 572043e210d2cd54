// SPDX-License-Identifier: Apache-2.0

package chartrules

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/removedapis"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/lint"
	"github.com/winnow-dev/winnow/render/lint/rules"
)

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
