package diff

import (
	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Kinds of steps.
const (
	StepMajor = "major"
	StepMinor = "minor"
	StepPatch = "patch"
	StepOther = "other"
	StepLower = "lower"
	// StepDowngrade is the lower version of an instance.
	StepDowngrade = "downgrade"
)

// versions compares the entries of spec.versions. It returns the newer ones in their order, then the removed
// ones in theirs.
func (d *differ) versions(key safeguard.Key, older, newer render.Object) []Version {
	before, _ := entries(older)
	after, order := entries(newer)
	var all []Version
	for _, version := range order {
		was, stays := before[version]
		if !stays {
			all = append(all, Version{Version: version, Change: Added})
			continue
		}
		if fields := fieldsOf(was, after[version]); len(fields) > 0 {
			v := Version{Version: version, Change: Replaced, SourceChanged: d.elsewhere[loss{key, version}]}
			v.Fields, v.FieldsOmitted = bounded(fields)
			all = append(all, v)
		}
	}
	_, order = entries(older)
	for _, version := range order {
		if _, stays := after[version]; !stays {
			all = append(all, Version{Version: version, Change: Removed, Cause: d.cause(key, version)})
		}
	}
	return all
}

// entries maps versions to their entries in spec.versions, and returns the versions in their order. Of
// several entries with one version, it has the first.
func entries(object render.Object) (map[string]render.Object, []string) {
	spec, _ := object["spec"].(map[string]any)
	list, _ := spec["versions"].([]any)
	found := map[string]render.Object{}
	var order []string
	for _, element := range list {
		entry, _ := element.(map[string]any)
		version, ok := entry["version"].(string)
		if _, twice := found[version]; ok && !twice {
			found[version] = entry
			order = append(order, version)
		}
	}
	return found, order
}

// step returns the change of the highest semantic version, nil when it stays.
func step(before, after []string) *Step {
	from, to := safeguard.Highest(before), safeguard.Highest(after)
	if from == nil || to == nil || from.Original() == to.Original() {
		return nil
	}
	return &Step{From: from.Original(), To: to.Original(), Kind: stepKind(from, to)}
}

func stepKind(from, to *semver.Version) string {
	switch {
	case to.LessThan(from):
		return StepLower
	case to.Major() != from.Major():
		return StepMajor
	case to.Minor() != from.Minor():
		return StepMinor
	case to.Patch() != from.Patch():
		return StepPatch
	}
	return StepOther
}
