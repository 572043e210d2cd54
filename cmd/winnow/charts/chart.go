// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"context"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/selection"
)

// Chart is the chart of a version of an application.
type Chart struct {
	Application, Version string
	// Original is the chart as the catalog has it, and Mirrored the one behind mirrors and patches.
	Original, Mirrored fetching.Reference
	// Uses are the values to install the chart with: a set for each instance of the version, or else the default values.
	Uses []Use
	// Defaults are the default values, also of a version that has instances.
	Defaults Use
	// Missing is the reason why there is no chart, or no values; empty otherwise.
	Missing string
}

// Input is what the charts of a selection are found in.
type Input struct {
	Selected []selection.Decision
	// Mirrored is the render of the selection; nil for applications as they are in their catalog. Original is the render without
	// mirrors; nil where values before the mirrors are not asked for.
	Mirrored, Original *render.Result
}

// KubeVersion returns the first version of Kubernetes that a selection names; empty without one.
func KubeVersion(cs *v1alpha1.CatalogSelection) string {
	if cs.Spec.Platform == nil || len(cs.Spec.Platform.Kubernetes) == 0 {
		return ""
	}
	return cs.Spec.Platform.Kubernetes[0]
}

// Find returns the charts of all selected versions, in their order. Applications without versions of KKP have none. It returns
// the error of building objects.
func Find(ctx context.Context, in Input) ([]Chart, error) {
	mirrored, err := read(ctx, in.Mirrored)
	if err != nil {
		return nil, err
	}
	f := finder{mirrored, mirrored}
	if in.Original != nil {
		if f.original, err = read(ctx, in.Original); err != nil {
			return nil, err
		}
	}
	var all []Chart
	for _, decision := range in.Selected {
		if decision.Application.IsObject() {
			all = append(all, f.charts(decision.Application)...)
		}
	}
	return all, nil
}

// state has the definitions and the instances of a render, by name.
type state struct {
	documents map[string][]byte
	instances map[string]installed
}

func read(ctx context.Context, result *render.Result) (s state, err error) {
	if result == nil {
		return s, nil
	}
	if s.documents, err = result.Documents(ctx); err == nil {
		s.instances, err = readInstances(ctx, result)
	}
	return s, err
}

// definition returns the definition of an application; ok reports whether it is one with versions.
func (s state) definition(application *catalog.Application) (p parsed, ok bool) {
	if document := s.documents[application.Name]; document != nil {
		return parse(document)
	}
	return parse(application.Document)
}

// finder has the states before and behind the mirrors.
type finder struct{ original, mirrored state }

// charts returns the charts of an application.
func (f finder) charts(application *catalog.Application) (all []Chart) {
	name := application.Name
	mirrored, isDefinition := f.mirrored.definition(application)
	if !isDefinition {
		return nil
	}
	original, _ := f.original.definition(application)
	inCatalogs := originals(application)
	for _, v := range mirrored.versions {
		chart := Chart{Application: name, Version: v.Name}
		chart.Mirrored, chart.Missing = reference(v)
		chart.Original = chart.Mirrored // of a version that only a patch has
		if known, ok := inCatalogs[v.Name]; ok {
			chart.Original = known
		}
		if chart.Missing == "" {
			chart.Uses = f.uses(name, v.Name)
		}
		chart.Defaults = Use{ReleaseName: name, Namespace: name, Original: original.defaults, Mirrored: mirrored.defaults, IsHelm3: true}
		if chart.Missing == "" && len(chart.Uses) == 0 {
			chart.Uses = []Use{chart.Defaults}
			if mirrored.invalid != nil {
				chart.Missing = mirrored.invalid.Error()
			}
		}
		all = append(all, chart)
	}
	return all
}

// originals maps the versions of an application to their charts as the catalogs have them.
func originals(application *catalog.Application) map[string]fetching.Reference {
	all := map[string]fetching.Reference{}
	own := catalog.Merged{From: application, Versions: application.Versions}
	for _, of := range append([]catalog.Merged{own}, application.Merged...) {
		definition, _ := parse(of.From.Document)
		for _, v := range definition.versions {
			if slices.Contains(of.Versions, v.Name) {
				all[v.Name], _ = reference(v)
			}
		}
	}
	return all
}

// uses returns the values of the instances of a version, sorted by name.
func (f finder) uses(application, version string) (all []Use) {
	for _, name := range slices.Sorted(maps.Keys(f.mirrored.instances)) {
		in := f.mirrored.instances[name]
		if in.application != application || in.version != version {
			continue
		}
		if original, ok := f.original.instances[name]; ok {
			in.Original = original.Mirrored
		}
		all = append(all, in.Use)
	}
	return all
}
