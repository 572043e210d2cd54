package safeguard

import (
	"cmp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Definition is an object of an artifact, or of a cluster, as far as its loss matters.
type Definition struct {
	// APIVersion is <group>/<version>, Kind the kind, Name the metadata.name.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	// Source is the name of the source that it came from; empty for one of a cluster.
	Source string `json:"source,omitempty"`
	// Versions are those of spec.versions, in its order; empty for kinds that have none.
	Versions []string `json:"versions,omitempty"`
	// Origins say where these come from, and Identity which live releases are meant, both as
	// identity.Facts has them. Records of older releases lack them.
	Origins  Origins           `json:"origins,omitempty"`
	Identity map[string]string `json:"identity,omitempty"`
}

// Key identifies a definition. The version of its API does not: it is a way to look at it.
type Key struct {
	Group, Kind, Name string
}

// Key returns the identity of the definition.
func (d Definition) Key() Key {
	group, _, _ := strings.Cut(d.APIVersion, "/")
	return Key{Group: group, Kind: d.Kind, Name: d.Name}
}

// Versions returns the versions in spec.versions of a definition in JSON's types. What is not
// shaped like one has none.
func Versions(definition map[string]any) []string {
	spec, _ := definition["spec"].(map[string]any)
	list, _ := spec["versions"].([]any)
	var versions []string
	for _, element := range list {
		fields, _ := element.(map[string]any)
		if version, ok := fields["version"].(string); ok {
			versions = append(versions, version)
		}
	}
	return versions
}

// Change is what one definition loses, or how it jumps.
type Change struct {
	// Reason is one of the reasons of api/v1alpha1: Removal, IdentityChange, VersionRemoval,
	// Adoption, SourceChange or MajorUpgrade; or UnknownName, which has no Key.
	Reason string
	// Key of the definition.
	Key Key
	// Source is the name of the source that the older side came from; empty for what lives in a
	// cluster.
	Source string
	// Versions that are lost, in the order of the older side; empty for MajorUpgrade. Of a
	// Removal, all of them; of a SourceChange those that come from elsewhere, none where the
	// definition has no versions.
	Versions []string
	// From and To are the highest versions before and after, of a MajorUpgrade, and the values of
	// Field, of an IdentityChange.
	From, To string
	// Field is the path of the field that changes, of an IdentityChange; that of the selection whose
	// value is To, of an UnknownName.
	Field string
	// Detail for people, beyond what the other fields say.
	Detail string
	// origins has where the versions come from afterwards, of a SourceChange; of a definition
	// without versions for the empty one.
	origins map[string]string
}

// same says whether both are about the same thing. A jump is the same jump only to the same
// version, and a change of a value only to the same value.
func (c Change) same(other Change) bool {
	return c.Reason == other.Reason && c.Key == other.Key && c.Field == other.Field && c.To == other.To &&
		c.origins[""] == other.origins[""]
}

// piecemeal says whether versions of a definition that stays are told apart one by one.
func (c Change) piecemeal() bool {
	return c.Reason == v1alpha1.VersionRemovalReason || c.Reason == v1alpha1.SourceChangeReason && len(c.Versions) > 0
}

// Compare returns what changes from the older to the newer definitions, sorted by name, then by
// reason: Removal of a definition; and within one that stays IdentityChange for each field that
// decides which live releases are meant, SourceChange of versions that stay, VersionRemoval, and
// MajorUpgrade when the major of the highest semantic version rises.
func Compare(older, newer []Definition) []Change {
	after := index(newer)
	var changes []Change
	for _, before := range older {
		now, stays := after[before.Key()]
		if !stays {
			changes = append(changes, Change{
				Reason: v1alpha1.RemovalReason, Key: before.Key(), Source: before.Source, Versions: before.Versions,
			})
			continue
		}
		if lost := missing(before.Versions, now.Versions); len(lost) > 0 {
			changes = append(changes, Change{
				Reason: v1alpha1.VersionRemovalReason, Key: before.Key(), Source: before.Source, Versions: lost,
			})
		}
		changes = append(changes, identityChanges(before, now)...)
		if change, differs := sourceChange(before, now); differs {
			changes = append(changes, change)
		}
		if from, to, rises := majorRise(before.Versions, now.Versions); rises {
			changes = append(changes, Change{
				Reason: v1alpha1.MajorUpgradeReason, Key: before.Key(), Source: before.Source, From: from, To: to,
			})
		}
	}
	sortChanges(changes)
	return changes
}

// Adopt returns what live definitions lose when the newer ones are applied over them: an Adoption
// for each with versions that the newer one lacks. Live definitions that are in no way newer are
// none of the artifact's business.
func Adopt(live, newer []Definition) []Change {
	after := index(newer)
	var changes []Change
	for _, before := range live {
		now, enters := after[before.Key()]
		if lost := missing(before.Versions, now.Versions); enters && len(lost) > 0 {
			changes = append(changes, Change{
				Reason: v1alpha1.AdoptionReason, Key: before.Key(), Versions: lost,
			})
		}
	}
	sortChanges(changes)
	return changes
}

// ByCatalog returns, of the changes that the new spec and the new catalog make together, those
// that the catalog makes: they are also there when the old spec meets the new catalog. Lost
// versions of one definition are told apart one by one, also when the catalog alone would take
// the whole definition.
//
// Everything else follows from the edit of the spec, which was reviewed.
func ByCatalog(both, catalogAlone []Change) []Change {
	var changes []Change
	for _, change := range both {
		alone := slices.IndexFunc(catalogAlone, change.same)
		switch {
		case change.piecemeal():
			lost := lostOf(change.Key, catalogAlone)
			change.Versions = filter(change.Versions, func(v string) bool { return slices.Contains(lost, change.loss(v)) })
			if len(change.Versions) > 0 {
				changes = append(changes, change)
			}
		case alone >= 0:
			if change.Reason == v1alpha1.RemovalReason {
				change.Versions = common(change.Versions, catalogAlone[alone].Versions)
			}
			changes = append(changes, change)
		}
	}
	return changes
}

// Apart is ByCatalog for when it is also known what the new spec does to the old catalog. A change
// is the spec's only if the spec alone makes it, as the review saw it, and the catalog alone does
// not; everything else is the catalog's, also what neither does without the other.
func Apart(both, catalogAlone, specAlone []Change) []Change {
	var changes []Change
	for _, change := range both {
		piecemeal := change.piecemeal()
		taken, reviewed := lostOf(change.Key, catalogAlone), lostOf(change.Key, specAlone)
		change.Versions = filter(change.Versions, func(v string) bool {
			return slices.Contains(taken, change.loss(v)) || !slices.Contains(reviewed, change.loss(v))
		})
		reviewable := slices.ContainsFunc(specAlone, change.same) && !slices.ContainsFunc(catalogAlone, change.same)
		if piecemeal {
			reviewable = len(change.Versions) == 0
		}
		if !reviewable {
			changes = append(changes, change)
		}
	}
	return changes
}

// lostOf returns the losses of versions of a definition, be they with all of it.
func lostOf(key Key, changes []Change) []string {
	var lost []string
	for _, c := range changes {
		if c.Key != key {
			continue
		}
		for _, version := range c.Versions {
			lost = append(lost, c.loss(version))
		}
	}
	return lost
}

func sortChanges(changes []Change) {
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Key.Name, b.Key.Name), cmp.Compare(a.Key.Group, b.Key.Group),
			cmp.Compare(a.Key.Kind, b.Key.Kind), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Field, b.Field))
	})
}

func index(definitions []Definition) map[Key]Definition {
	byKey := make(map[Key]Definition, len(definitions))
	for _, d := range definitions {
		byKey[d.Key()] = d
	}
	return byKey
}

// missing returns the strings of older that newer lacks, in their order.
func missing(older, newer []string) []string {
	return filter(older, func(s string) bool { return !slices.Contains(newer, s) })
}

func common(a, b []string) []string {
	return filter(a, func(s string) bool { return slices.Contains(b, s) })
}

func filter(list []string, keep func(string) bool) []string {
	var kept []string
	for _, s := range list {
		if keep(s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// majorRise returns the highest semantic versions of both, and whether the second's major is
// greater. What is no semantic version does not count.
func majorRise(older, newer []string) (from, to string, rises bool) {
	before, now := Highest(older), Highest(newer)
	if before == nil || now == nil {
		return "", "", false
	}
	return before.Original(), now.Original(), now.Major() > before.Major()
}

// Highest returns the highest semantic version, nil when there is none.
func Highest(versions []string) *semver.Version {
	var best *semver.Version
	for _, text := range versions {
		parsed, err := semver.NewVersion(text)
		if err == nil && (best == nil || parsed.GreaterThan(best)) {
			best = parsed
		}
	}
	return best
}
