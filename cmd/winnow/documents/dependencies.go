// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/selectionrule"
)

// Dependencies returns a warning for each dependency of a package of operators that the catalogs satisfy and the
// selection does not, because it leaves the providing packages, or their versions, out.
func Dependencies(cs *v1alpha1.CatalogSelection, result *render.Result) []Warning {
	if cs.Spec.Definitions == v1alpha1.DefinitionsOmit {
		return nil // the packages are published elsewhere
	}
	var offered, kept []*filebased.Package
	for _, d := range result.Selection.Decisions {
		if of := d.Application.Package(); of != nil && d.Rule != selection.RuleShadowed {
			offered = append(offered, of)
		}
		if of := catalog.PackageOf(d.Kept); of != nil && d.Selected {
			kept = append(kept, of)
		}
	}
	c := dependencies{result: result, catalogs: filebased.NewOffer(offered), selected: filebased.NewOffer(kept)}
	var all []Warning
	for _, of := range kept {
		if !onlyByOLMv1(of.Name, result) {
			all = append(all, c.missing(of)...)
		}
	}
	return all
}

// onlyByOLMv1 reports whether a package has instances, and OLM v1 installs all of them. It installs no bundle with dependencies,
// whatever is selected, and the instances have notes on that.
func onlyByOLMv1(name string, result *render.Result) bool {
	instances := each.Where(result.Instances, func(in installation.Instance) bool { return in.Application == name })
	return len(instances) > 0 && !slices.ContainsFunc(instances, func(in installation.Instance) bool { return in.Backend != backend.ClusterExtension })
}

// dependencies compares what catalogs offer with what a selection keeps of it.
type dependencies struct {
	result             *render.Result
	catalogs, selected filebased.Offer
}

// missing returns a warning for each dependency that the versions of a package lack, about the highest one with it.
func (c dependencies) missing(of *filebased.Package) []Warning {
	var all []Warning
	for _, m := range of.Missing(func(on filebased.Dependency) bool { return !c.selected.Satisfies(on) && c.catalogs.Satisfies(on) }) {
		field, advice := c.advice(m.Dependency)
		all = append(all, Warning{selectionrule.Dependency, field, fmt.Sprintf(
			"%s of the package %s requires %s, which the catalog has and the selection leaves out: %s, so that OLM v0 finds it; OLM v1 installs no bundle with dependencies%s",
			excerpt.Of(m.Bundles[0].Name), of.Name, m, advice, m.Further())})
	}
	return all
}

// advice returns the field that leaves out what a dependency is on, and what to do.
func (c dependencies) advice(on filebased.Dependency) (field, advice string) {
	field = "spec"
	var others []string
	for _, name := range c.catalogs.Providers(on) {
		d := c.decision(name)
		if d.Selected {
			return "spec." + selection.RuleVersions, fmt.Sprintf("keep a version of %s that provides it", name)
		}
		if others = append(others, name); len(others) == 1 {
			field = "spec." + d.Rule
		}
	}
	if len(others) > 1 {
		return field, "select one of these too: " + excerpt.Names(others, maxListed)
	}
	return field, "select " + others[0] + " too"
}

// decision returns the decision on a package, of the source that it is selected from, or of the first source.
func (c dependencies) decision(name string) (found selection.Decision) {
	for _, d := range c.result.Selection.Decisions {
		if d.Application.Name == name && (found.Application == nil || d.Selected) {
			found = d
		}
	}
	return found
}
