// SPDX-License-Identifier: Apache-2.0

package upgrades

import (
	"slices"

	"github.com/winnow-dev/winnow/render/diff"
)

func isDefinitionObject(o object) bool { return isKind(o, definitionKind.Group, definitionKind.Kind) }

// goneDefinition returns the text for a definition that is no longer rendered.
func goneDefinition(o object) string {
	switch {
	case o.inCRDs():
		return "It stays in the cluster: Helm never deletes what a directory crds has. The newer chart may not handle its objects: see what it says about them."
	case o.isKept():
		return "Helm keeps it, as its annotation helm.sh/resource-policy asks for. The newer chart may not handle its objects: see what it says about them."
	}
	return "Helm deletes it, and with it all its objects. Back them up, and annotate it with helm.sh/resource-policy: keep before the upgrade if they are to stay."
}

// changedDefinition returns the risks of a definition that stays.
func changedDefinition(o, newer object) (risks []diff.Risk) {
	switch {
	case o.inCRDs() && !newer.inCRDs():
		risks = append(risks, definitionRisk(o, "It leaves the directory crds for the templates: Helm refuses to take an object over that it does not own, and the upgrade fails."+
			" Flux takes it over, unless disableTakeOwnership is set; otherwise label and annotate it for the release before the upgrade."))
	case !o.inCRDs() && newer.inCRDs() && !o.isKept():
		risks = append(risks, definitionRisk(o, "It leaves the templates for the directory crds: Helm deletes it, with all its objects, and does not install it again."+
			" Annotate it with helm.sh/resource-policy: keep before the upgrade."))
	}
	stored := storedVersion(o)
	now := servedVersions(newer)
	for _, version := range servedVersions(o) {
		if slices.Contains(now, version) {
			continue
		}
		r := changedRisk(Definition, o, difference{path: ".spec.versions", from: version}, lostVersion(newer, version == stored))
		risks = append(risks, r)
	}
	return risks
}

func definitionRisk(o object, sentence string) diff.Risk {
	return diff.Risk{Rule: Definition, Object: o.String(), Text: sentence}
}

// lostVersion returns the text for a version of a definition that is no longer served.
func lostVersion(newer object, isStored bool) string {
	const migrate = " Before the upgrade, write its objects in a newer version, and let no manifest or client use this one."
	switch {
	case newer.inCRDs():
		return "It stays in the cluster: Helm does not upgrade what a directory crds has. Where it is applied otherwise, as by crds: CreateReplace of Flux, manifests and clients of this version fail." + migrate
	case isStored:
		return "The API server refuses to remove the version in which objects are stored, and the upgrade fails; where it only is no longer served, manifests and clients of it fail." + migrate
	}
	return "Manifests and clients of this version fail; where objects are still stored in it, the API server refuses its removal." + migrate
}

// servedVersions returns the names of the versions that a definition serves.
func servedVersions(o object) (names []string) {
	for _, version := range o.at("spec", "versions").Items() {
		if version.Get("served").IsTrue() {
			names = append(names, version.Get("name").Text())
		}
	}
	if old := o.at("spec", "version").Text(); old != "" && len(names) == 0 {
		names = append(names, old)
	}
	return names
}

// storedVersion returns the version in which the objects of a definition are written.
func storedVersion(o object) string {
	for _, version := range o.at("spec", "versions").Items() {
		if version.Get("storage").IsTrue() {
			return version.Get("name").Text()
		}
	}
	return o.at("spec", "version").Text()
}
