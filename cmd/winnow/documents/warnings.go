// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backends"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/selectionrule"
)

// Warning is about an object beside a selection with instances that does not do what its author probably expects.
type Warning struct {
	// Rule is one of selectionrule.
	Rule string
	// Field of the selection that it is about.
	Field string
	// Message for people.
	Message string
}

// maxListed bounds the instances in a message.
const maxListed = 5

// Warnings returns the warnings for a selection; result is its render, nil where nothing is rendered.
func (r *Set) Warnings(cs Selection, result *render.Result) []Warning {
	if len(cs.Spec.Instances) == 0 {
		return nil
	}
	all := append(movingSources(r, cs, floating(cs.CatalogSelection, result)), notes(cs.CatalogSelection, result)...)
	for _, k := range r.ConsumersOf(&cs) {
		if k.Cluster != cs.Cluster {
			continue
		}
		where := "the Kustomization " + strings.TrimPrefix(k.Name, "/")
		if k.File != "" {
			where += " in " + k.File
		}
		if !k.Waits {
			all = append(all, Warning{selectionrule.NoWait, "spec.instances",
				where + " does not have wait: true, without which the condition Applied does not tell that the release of an instance has failed"})
		}
		if len(k.Renames) > 0 {
			all = append(all, Warning{selectionrule.Renamed, "spec.instances", fmt.Sprintf(
				"%s has %s, which renames sources and default values, but not what refers to them, so that no release finds its chart", where, strings.Join(k.Renames, " and "))})
		}
		if k.Moves {
			all = append(all, Warning{selectionrule.Renamed, "spec.instances",
				where + " has spec.targetNamespace, which moves releases out of the namespace of the values that they name, and renames the namespaces that they create"})
		}
	}
	return all
}

// notes returns the notes on the instances of an artifact, or of a spec where nothing is rendered. Each note names all of its
// instances.
func notes(cs *v1alpha1.CatalogSelection, result *render.Result) []Warning {
	instances := map[backend.Note][]string{}
	var found []backend.Note
	for _, name := range slices.Sorted(maps.Keys(cs.Spec.Instances)) {
		for _, note := range notesOn(name, cs.Spec.Instances[name], result) {
			if instances[note] == nil {
				found = append(found, note)
			}
			instances[note] = append(instances[note], name)
		}
	}
	return each.Map(found, func(note backend.Note) Warning {
		names := instances[note]
		return Warning{selectionrule.Note, fmt.Sprintf("spec.instances[%s].%s", names[0], note.Field),
			fmt.Sprintf("%s (%s) %s", note.Field, excerpt.Names(names, maxListed), note.Message)}
	})
}

func notesOn(name string, in v1alpha1.Instance, result *render.Result) []backend.Note {
	if result != nil {
		if built := result.Find(name); built != nil {
			return built.Notes
		}
	}
	return backends.Notes(in.Backend, backend.Instance{Requested: in.Version, ServiceAccountName: in.ServiceAccountName})
}

// movingSources returns the sources whose content changes without a commit, where the catalogs decide about the versions
// of instances.
func movingSources(r *Set, cs Selection, instances []string) []Warning {
	var all []Warning
	for i, ref := range cs.Spec.Sources {
		kind, key := guard.SourceKey(cs.CatalogSelection, ref)
		nearest := r.Nearest(cs.Origin, kind, key)
		if len(nearest) == 0 || len(instances) == 0 {
			continue
		}
		if moves := nearest[0].Moves(); moves != "" {
			all = append(all, Warning{selectionrule.MovingSource, fmt.Sprintf("spec.sources[%d]", i), fmt.Sprintf(
				"%s %s, so that new versions of instances come without a commit to review (%s): pin it to the tag of a version, or a digest",
				Qualified(kind, nearest[0].Namespace, nearest[0].Name), moves, excerpt.Names(instances, maxListed))})
		}
	}
	return all
}

// floating returns the instances whose versions the catalogs decide, each with its range, sorted.
func floating(cs *v1alpha1.CatalogSelection, result *render.Result) []string {
	if cs.Spec.Safeguards.OnInstanceUpgrade == v1alpha1.SafeguardHold {
		return nil // each upgrade is reviewed as an approval
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(cs.Spec.Instances)) {
		in := cs.Spec.Instances[name]
		_, err := semver.NewConstraint(in.Version)
		isNamed := in.Version != "" && (instance.IsExact(in.Version) || err != nil)
		if result != nil {
			built := result.Find(name)
			isNamed = built == nil || built.Named || built.Version == ""
		}
		if isNamed || in.Backend == backend.CozystackApplication || in.Backend == backend.Terraform {
			continue
		}
		all = append(all, name+": "+excerpt.Of(cmp.Or(in.Version, "the default version")))
	}
	return all
}
