// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"context"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
)

// Chart is the chart of a version of an application.
type Chart struct {
	Application, Version string
	// From is the chart before the mirrors, and To the one behind them.
	From, To fetching.Reference
	// Uses are the values to install the chart with: a set for each instance of the version, or else the default values.
	Uses []Use
	// Defaults are the default values, also of a version that has instances.
	Defaults Use
	// Missing is the reason why there is no chart, or no values; empty otherwise.
	Missing string
}

// Use is a set of values of a chart.
type Use struct {
	// Instance that has the values; empty for the default values of the application.
	Instance string
	// ReleaseName and Namespace of the release.
	ReleaseName, Namespace string
	// From are the values before the mirrors, and To behind them, as YAML.
	From, To []byte
	// IsOpen reports whether the cluster has further values.
	IsOpen bool
	// IsUpgrade reports whether the release is rendered as an upgrade; otherwise as an installation.
	IsUpgrade bool
	// IsHelm3 reports whether KKP installs it, which has Helm 3; otherwise Flux does, which has Helm 4.
	IsHelm3 bool
}

// Input is what the charts of a selection are found in.
type Input struct {
	Sources  []selection.Source
	Selected []selection.Decision
	// Options of the selection, and those without its mirrors.
	Options, Unmirrored render.Options
}

// Unmirrored returns the options of a selection without its mirrors.
func Unmirrored(cs *v1alpha1.CatalogSelection) (render.Options, error) {
	without := cs.DeepCopy()
	without.Spec.Mirrors, without.Spec.RequireMirrors = nil, false
	return render.FromSpec(without)
}

// KubeVersion returns the first version of Kubernetes that a selection names; empty without one.
func KubeVersion(cs *v1alpha1.CatalogSelection) string {
	if cs.Spec.Platform == nil || len(cs.Spec.Platform.Kubernetes) == 0 {
		return ""
	}
	return cs.Spec.Platform.Kubernetes[0]
}

// Find returns the charts of all selected versions, in their order. Applications without versions of KKP have none. It returns
// the error of render.Render.
func Find(ctx context.Context, in Input) ([]Chart, error) {
	before, err := render.Transformed(ctx, in.Selected, in.Unmirrored)
	if err != nil {
		return nil, err
	}
	behind, err := render.Transformed(ctx, in.Selected, in.Options)
	if err != nil {
		return nil, err
	}
	to, err := readInstances(ctx, in.Sources, in.Options)
	if err != nil {
		return nil, err
	}
	from, err := readInstances(ctx, in.Sources, in.Unmirrored)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		from = nil // some instances need what a mirror says; then the values behind the mirrors are all that there is
	}
	f := finder{from, to}
	var all []Chart
	for i, decision := range in.Selected {
		all = append(all, f.charts(decision.Application.Name, before[i], behind[i])...)
	}
	return all, nil
}

// finder has the instances before and behind the mirrors, by name.
type finder struct{ from, to map[string]installed }

// charts returns the charts of an application, by its documents before and behind the mirrors.
func (f finder) charts(application string, before, behind []byte) (all []Chart) {
	from, isDefinition := parse(before)
	to, _ := parse(behind)
	if !isDefinition {
		return nil
	}
	for _, v := range to.Spec.Versions {
		chart := Chart{Application: application, Version: v.Version}
		chart.To, chart.Missing = v.reference()
		chart.From = chart.To
		if original := from.find(v.Version); original != nil {
			chart.From, _ = original.reference()
		}
		if chart.Missing == "" {
			chart.Uses = f.uses(application, v.Version)
		}
		chart.Defaults = Use{ReleaseName: application, Namespace: application, From: from.defaults, To: to.defaults, IsHelm3: true}
		if chart.Missing == "" && len(chart.Uses) == 0 {
			chart.Uses = []Use{chart.Defaults}
			if to.invalid != nil {
				chart.Missing = to.invalid.Error()
			}
		}
		all = append(all, chart)
	}
	return all
}

// uses returns the values of the instances of a version, sorted by name.
func (f finder) uses(application, version string) (all []Use) {
	for _, name := range slices.Sorted(maps.Keys(f.to)) {
		in := f.to[name]
		if in.application != application || in.version != version {
			continue
		}
		use := Use{
			Instance: name, ReleaseName: in.releaseName, Namespace: in.namespace, From: in.values, To: in.values, IsOpen: in.isOpen, IsHelm3: in.isHelm3,
		}
		if original, ok := f.from[name]; ok {
			use.From = original.values
		}
		all = append(all, use)
	}
	return all
}
