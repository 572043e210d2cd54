package safeguard

import (
	"fmt"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/identity"
)

// DefinitionOf reads an object in the types that JSON and kustomize have. Fields that the object does not
// have, or not with the type of a definition's, stay empty.
func DefinitionOf(object map[string]any) Definition {
	metadata, _ := object["metadata"].(map[string]any)
	d := Definition{Versions: Versions(object)}
	d.APIVersion, _ = object["apiVersion"].(string)
	d.Kind, _ = object["kind"].(string)
	d.Name, _ = metadata["name"].(string)
	facts := identity.Of(identity.Object{Content: object})
	d.Origins, d.Identity = facts.Origins, facts.Fields
	return d
}

// origin returns the origin of the version with an index, or of the definition itself if it has no
// versions; empty when unknown, as in records of older releases.
func (d Definition) origin(index int) string {
	switch {
	case len(d.Origins) == 1:
		return d.Origins[0]
	case index < len(d.Origins) && len(d.Origins) == len(d.Versions):
		return d.Origins[index]
	}
	return ""
}

// OriginOf returns the origin of a version, or of the definition itself for an empty one.
func (d Definition) OriginOf(version string) string {
	return d.origin(max(0, slices.Index(d.Versions, version)))
}

// identityChanges returns a change for each field of the identity that both sides have and that differs.
func identityChanges(before, now Definition) []Change {
	var changes []Change
	for _, field := range slices.Sorted(maps.Keys(before.Identity)) {
		from := before.Identity[field]
		to, known := now.Identity[field]
		if known && from != to {
			change := before.change(v1alpha1.IdentityChangeReason)
			change.Field, change.From, change.To = field, from, to
			changes = append(changes, change)
		}
	}
	return changes
}

// sourceChange returns the change of the versions that stay, but have another origin, and whether there
// are any.
func sourceChange(before, now Definition) (Change, bool) {
	change := before.change(v1alpha1.SourceChangeReason)
	change.origins = map[string]string{}
	differ := func(version string, from, to string) {
		if known(from) && known(to) && !sameOrigin(from, to) {
			change.origins[version] = to
		}
	}
	if len(before.Versions) == 0 && len(now.Versions) == 0 {
		differ("", before.origin(0), now.origin(0))
	}
	after := make(map[string]string, len(now.Versions))
	for i, version := range now.Versions {
		if _, twice := after[version]; !twice {
			after[version] = now.origin(i)
		}
	}
	for i, version := range before.Versions {
		if _, twice := change.origins[version]; twice {
			continue
		}
		if differ(version, before.origin(i), after[version]); change.origins[version] != "" {
			change.Versions = append(change.Versions, version)
		}
	}
	return change, len(change.origins) > 0
}

// lossKey identifies the loss of a version across changes; for a SourceChange the key has the new origin.
func (c Change) lossKey(version string) string {
	if c.Reason == v1alpha1.SourceChangeReason {
		return "source " + version + " " + c.origins[version]
	}
	if c.Reason == v1alpha1.StrandedReason {
		return fmt.Sprintf("channel %q %q %q", c.From, c.Channel, version)
	}
	return version
}
