// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/lint/chartrules"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/lint/corpus"
	"github.com/winnow-dev/winnow/render/lint/field"
	"github.com/winnow-dev/winnow/render/lint/rules"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// chartLinter looks into charts.
type chartLinter struct {
	charts.Renderer

	// platform are the versions of Kubernetes of the clusters; without any, the newest one that a version runs on is taken.
	platform []string
	// onlyInstalled leaves out the versions that no instance has.
	onlyInstalled bool
	// setBy has the keys of values that instances set.
	setBy map[string]map[string]bool
}

// look renders charts for the versions of Kubernetes that they have to run on, and returns what is wrong with them.
func (l chartLinter) look(ctx context.Context, in charts.Input) ([]chartrules.Problem, error) {
	found, err := charts.Find(ctx, in)
	if err != nil {
		return nil, err
	}
	if l.onlyInstalled {
		found = slices.DeleteFunc(found, func(c charts.Chart) bool { return len(c.Uses) == 0 || c.Uses[0].Instance == "" })
	}
	wanted := make([][]string, len(found))
	var all []string
	for i, chart := range found {
		wanted[i] = l.kubernetes(in.Selected, chart)
		all = append(all, wanted[i]...)
	}
	slices.Sort(all)
	renders := make([][]chartrules.Render, len(found))
	l.OnlyServed, l.FindUnread = true, true
	for _, l.KubeVersion = range slices.Compact(all) {
		var some []charts.Chart
		var at []int
		for i := range found {
			if slices.Contains(wanted[i], l.KubeVersion) && !hasFailed(renders[i]) {
				some, at = append(some, found[i]), append(at, i)
			}
		}
		rendered, err := l.Render(ctx, some)
		if err != nil {
			return nil, err
		}
		for i, r := range rendered {
			renders[at[i]] = append(renders[at[i]], chartrules.Render{Chart: r, Kubernetes: l.KubeVersion})
		}
	}
	return chartrules.Check(chartrules.Input{Charts: renders, SetBy: l.setBy, HasPlatform: len(l.platform) > 0}), nil
}

// hasFailed reports whether a chart cannot be looked into: rendering it again may take as long again.
func hasFailed(renders []chartrules.Render) bool {
	return len(renders) > 0 && renders[len(renders)-1].Chart.Failure != nil
}

// kubernetes returns the versions of Kubernetes for which a chart is rendered.
func (l chartLinter) kubernetes(selected []selection.Decision, chart charts.Chart) []string {
	for _, d := range selected {
		if d.Application.Name == chart.Application {
			return chartrules.Kubernetes(d.Application.Metadata.Versions.Of(chart.Version).Requires, l.platform)
		}
	}
	return nil
}

// Find is part of lint.Further. Each version of an application has its default values.
func (l chartLinter) Find(ctx context.Context, valid *catalog.Catalog, definitions []*corpus.Definition) (found []rules.Finding, err error) {
	problems, err := l.look(ctx, charts.Input{Selected: report.Everything(valid)})
	if err != nil {
		return nil, fmt.Errorf("looking into charts: %w", err)
	}
	byName := each.By(definitions, func(d *corpus.Definition) string { return d.Name })
	for _, p := range problems {
		d := cmp.Or(byName[p.Application], &corpus.Definition{Name: p.Application})
		message := p.Message
		if p.Version != "" {
			message = fmt.Sprintf("version %s: %s", p.Version, p.Message)
		}
		found = append(found, rules.Finding{
			Rule: p.Rule, Severity: p.Severity, Path: d.Path, Line: lineOf(d, p), Application: d.Name, Message: message,
		})
	}
	return found, nil
}

// lineOf returns the line of a default value, or of a version, in a definition.
func lineOf(d *corpus.Definition, p chartrules.Problem) int {
	spec := d.Root.Get("spec")
	if p.Key != "" {
		return lineOfValue(spec, p.Key)
	}
	for _, version := range definition.Versions(spec) {
		if version.Name == p.Version {
			return version.Entry.Line
		}
	}
	return spec.Line
}

// lineOfValue returns the line of a top-level default value. The lines of a text are below the line of its field.
func lineOfValue(spec field.Field, key string) int {
	_, at, block := definition.DefaultValues(spec)
	if block == "" {
		return at.Get(key).Line
	}
	values, _ := yamlnode.First([]byte(block)) // nil has no key
	if found, ok := yamlnode.Find(values, key); ok {
		return at.Line + found.Line
	}
	return at.Line
}
