// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/fielddiff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection/numbered"
	"github.com/winnow-dev/winnow/render/value"
)

// versions compares the entries of spec.versions. It returns the newer ones in their order, then the removed
// ones in theirs.
func (d *differ) versions(key safeguard.Key, older, newer kustomized.Object) []diff.Version {
	before, _ := entries(older)
	after, order := entries(newer)
	var all []diff.Version
	for _, version := range order {
		was, stays := before[version]
		if !stays {
			all = append(all, diff.Version{Version: version, Change: diff.Added})
			continue
		}
		if fields := fielddiff.Of(was, after[version]); len(fields) > 0 {
			v := diff.Version{Version: version, Change: diff.Replaced, SourceChanged: d.elsewhere[loss{key, version}]}
			v.Fields, v.FieldsOmitted = fielddiff.Bounded(fields, fielddiff.MaxFields)
			all = append(all, v)
		}
	}
	_, order = entries(older)
	for _, version := range order {
		if _, stays := after[version]; !stays {
			all = append(all, diff.Version{Version: version, Change: diff.Removed, Cause: d.cause(key, version), Installations: d.installations(key, version)})
		}
	}
	return all
}

// installations returns the instances of the older selection that KKP installs in a version of a definition.
func (d *differ) installations(key safeguard.Key, version string) []string {
	installed := each.Where(d.from.result().Instances, func(in installation.Instance) bool {
		return in.Backend == backend.ApplicationInstallation && in.Application == key.Name && in.Version == version
	})
	return each.Map(installed, func(in installation.Instance) string { return in.Name })
}

// entries maps versions to their entries in spec.versions, and returns the versions in their order. Of
// several entries with one version, it has the first.
func entries(object kustomized.Object) (map[string]kustomized.Object, []string) {
	found := map[string]kustomized.Object{}
	var order []string
	for _, version := range definition.Versions(value.Of(object).Get("spec")) {
		if found[version.Name] == nil {
			found[version.Name] = version.Entry.Mapping()
			order = append(order, version.Name)
		}
	}
	return found, order
}

// step returns the change of the highest semantic version, nil when it stays.
func step(before, after []string) *diff.Step {
	from, to := numbered.Highest(before), numbered.Highest(after)
	if from.Parsed == nil || to.Parsed == nil || from.Text == to.Text {
		return nil
	}
	return &diff.Step{From: from.Text, To: to.Text, Kind: diff.StepKind(from.Parsed, to.Parsed)}
}
