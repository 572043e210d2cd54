package safeguard

import (
	"cmp"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Definition has the fields of an object in an artifact, or in a cluster, that are compared: of a definition, or of
// the main object of an instance, whose only version is the installed one.
type Definition struct {
	// APIVersion is <group>/<version>, Kind the kind, Name the metadata.name.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Namespace of the main object of an instance; empty for a definition.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Instance of the spec whose main object this is, and the Application that it installs; empty for a definition.
	Instance    string `json:"instance,omitempty"`
	Application string `json:"application,omitempty"`
	// Source is the name of its source; empty for an object in a cluster.
	Source string `json:"source,omitempty"`
	// Versions are those of spec.versions, in its order; empty for kinds that have none.
	Versions []string `json:"versions,omitempty"`
	// Origins are those of the versions, and Identity has the fields that decide which live releases are
	// meant, both as in identity.Facts. Records of older releases lack them.
	Origins  Origins           `json:"origins,omitempty"`
	Identity map[string]string `json:"identity,omitempty"`
	// Channel that the operator of an instance follows; empty for others, and in records of older releases.
	Channel string `json:"channel,omitempty"`
	// Package is the package of operators that a content is; nil for others.
	Package *Package `json:"package,omitempty"`
}

// Versions returns the versions in spec.versions of a definition in JSON's types. Elements without a
// version that is a string are skipped.
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

// Change is a loss, a change or a major upgrade of one definition.
type Change struct {
	// Reason is one of the reasons of api/v1alpha1: Removal, IdentityChange, VersionRemoval,
	// Stranded, Adoption, SourceChange, InstanceUpgrade or MajorUpgrade; or UnknownName, which has no Key.
	Reason string
	// Key of the definition, or of the main object of an instance.
	Key Key
	// Instance, and the Application that it installs; empty for a definition.
	Instance, Application string
	// Source is the name of the source of the older definition; empty for one in a cluster.
	Source string
	// Versions that are lost, in the order of the older definition: all of them for a Removal, none for a
	// MajorUpgrade. For a SourceChange, those with another origin; none if the definition has no versions.
	Versions []string
	// Channel of a Stranded. From is the one that it takes the place of as default channel; empty where both are one.
	Channel string
	// From and To are the highest versions before and after a MajorUpgrade, the versions of an instance before and after
	// an InstanceUpgrade or a VersionRemoval, or the values of Field before and after an IdentityChange or, if that is
	// the ChannelField, an InstanceUpgrade.
	From, To string
	// Consumer is <namespace>/<name> of the Kustomization whose inventory has the removed object; empty
	// for an object that was published.
	Consumer string
	// Field is, for an IdentityChange, the path of the field that changes, and for an UnknownName the path
	// of the selection's field with the value To.
	Field string
	// Detail is appended to the description of the change.
	Detail string
	// ByRevision reports, of a change that is held, that new revisions of the sources cause it alone, so that their
	// approval releases it. Package guard sets it.
	ByRevision bool
	// Unreadable is true for a change of a live object that the account of the selection may not read: Versions, From and
	// Detail must not be shown.
	Unreadable bool
	// origins maps the versions of a SourceChange to their new origins; the key is empty for a definition
	// without versions.
	origins map[string]string
}

// same reports whether both are the same change of the same definition. A major upgrade is the same only
// to the same version, and a change of a value only to the same value.
func (c Change) same(other Change) bool {
	return c.Reason == other.Reason && c.Key == other.Key && c.Field == other.Field && c.To == other.To &&
		c.origins[""] == other.origins[""]
}

// byVersion reports whether the change of each version is excused on its own, which is so if the
// definition stays. An instance that falls is excused only with the version that it falls to.
func (c Change) byVersion() bool {
	return c.Reason == v1alpha1.VersionRemovalReason && c.Instance == "" || c.Reason == v1alpha1.StrandedReason || c.Reason == v1alpha1.SourceChangeReason && len(c.Versions) > 0
}

// Compare returns the changes from the older to the newer definitions, sorted by name, then by
// reason: Removal of a definition; and for one that stays IdentityChange for each field that
// decides which live releases are meant, SourceChange of versions that stay, VersionRemoval, and
// MajorUpgrade when the major of the highest semantic version rises. A package of operators loses only what is
// Stranded in a channel. Instances are compared by their names, with an
// InstanceUpgrade for another version, or a VersionRemoval for a lower one. One that is gone while another one gets its
// release has an IdentityChange.
func Compare(older, newer []Definition) []Change {
	after, instances := ByKey(newer), byInstance(newer)
	var changes []Change
	for _, before := range older {
		now, stays := after[before.Key()]
		if before.Instance != "" {
			now, stays = instances[before.Instance]
		}
		if !stays {
			changes = append(changes, gone(before, newer))
			continue
		}
		changes = append(changes, identityChanges(before, now)...)
		if change, differs := sourceChange(before, now); differs {
			changes = append(changes, change)
		}
		if before.Instance != "" {
			changes = append(changes, instanceChanges(before, now)...)
			continue
		}
		if before.Package != nil && now.Package != nil {
			changes = append(changes, packageChanges(before, now)...)
			continue
		}
		if lost := missing(before.Versions, now.Versions); len(lost) > 0 {
			removal := before.change(v1alpha1.VersionRemovalReason)
			removal.Versions = lost
			changes = append(changes, removal)
		}
		if from, to, rises := majorRise(before.Versions, now.Versions); rises {
			upgrade := before.change(v1alpha1.MajorUpgradeReason)
			upgrade.From, upgrade.To = from, to
			changes = append(changes, upgrade)
		}
	}
	Sort(changes)
	return changes
}

// gone returns the change of a definition, or an instance, that the newer ones lack.
func gone(before Definition, newer []Definition) Change {
	if next, inherits := heir(before, newer); inherits {
		change := before.change(v1alpha1.IdentityChangeReason)
		change.Field, change.From, change.To = InstanceField, before.Instance, next.Instance
		return change
	}
	removal := before.change(v1alpha1.RemovalReason)
	removal.Versions = before.Versions
	return removal
}

// change returns a change of the definition.
func (d Definition) change(reason string) Change {
	return Change{Reason: reason, Key: d.Key(), Source: d.Source, Instance: d.Instance, Application: d.Application}
}

// Adopt returns the losses of live definitions when the newer ones are applied over them: an Adoption
// for each with versions that the newer one lacks, and an IdentityChange for each field that decides which
// live releases are meant. Live definitions that newer does not have are ignored.
func Adopt(live, newer []Definition) []Change {
	after := ByKey(newer)
	var changes []Change
	for _, before := range live {
		now, enters := after[before.Key()]
		if !enters {
			continue
		}
		if now.Instance != "" {
			before.Instance, before.Application = now.Instance, cmp.Or(before.Application, now.Application)
			before.Versions = now.Versions // the spec decides
			changes = append(changes, instanceChanges(before, now)...)
		}
		if lost := missing(before.Versions, now.Versions); len(lost) > 0 {
			changes = append(changes, Change{
				Reason: v1alpha1.AdoptionReason, Key: before.Key(), Versions: lost,
			})
		}
		changes = append(changes, identityChanges(before, now)...)
	}
	Sort(changes)
	return changes
}

// OfPlatform reports whether the change is the adoption of a definition that the platform's own controllers
// reconcile, which is held whatever the safeguards are: they would fight with Flux over it.
func (c Change) OfPlatform() bool {
	return c.Reason == v1alpha1.AdoptionReason && len(c.Versions) == 0
}

// Loses reports whether the change removes a definition or versions of it, or changes its identity.
func (c Change) Loses() bool {
	return c.Reason != v1alpha1.MajorUpgradeReason && c.Reason != v1alpha1.SourceChangeReason && c.Reason != v1alpha1.InstanceUpgradeReason
}

// Unexcused returns the changes that are not among the excused ones. Lost versions of a definition that
// stays are compared one by one, even with an excused removal of the whole definition.
func Unexcused(changes, excused []Change) []Change {
	lost := map[Key]map[string]bool{}
	for _, c := range excused {
		if lost[c.Key] == nil {
			lost[c.Key] = map[string]bool{}
		}
		for _, v := range c.Versions {
			lost[c.Key][c.lossKey(v)] = true
		}
	}
	var rest []Change
	for _, c := range changes {
		if c.byVersion() {
			c.Versions = filter(c.Versions, func(v string) bool { return !lost[c.Key][c.lossKey(v)] })
			if len(c.Versions) > 0 {
				rest = append(rest, c)
			}
		} else if !slices.ContainsFunc(excused, c.same) {
			rest = append(rest, c)
		}
	}
	return rest
}

// Sort sorts changes by name, then by kind and reason.
func Sort(changes []Change) {
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Key.FullName(), b.Key.FullName()), cmp.Compare(a.Key.Group, b.Key.Group),
			cmp.Compare(a.Key.Kind, b.Key.Kind), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Field, b.Field),
			cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.From, b.From))
	})
}

// ByKey maps keys to their definitions; of several with one key, to the last.
func ByKey(definitions []Definition) map[Key]Definition {
	byKey := make(map[Key]Definition, len(definitions))
	for _, d := range definitions {
		byKey[d.Key()] = d
	}
	return byKey
}

// byInstance maps the names of instances to them.
func byInstance(definitions []Definition) map[string]Definition {
	all := map[string]Definition{}
	for _, d := range definitions {
		if d.Instance != "" {
			all[d.Instance] = d
		}
	}
	return all
}

// missing returns the strings of older that newer lacks, in their order.
func missing(older, newer []string) []string {
	kept := make(map[string]bool, len(newer))
	for _, s := range newer {
		kept[s] = true
	}
	return filter(older, func(s string) bool { return !kept[s] })
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

// majorRise returns the highest semantic versions of both, and reports whether the second's major is
// greater. Versions that are not semantic are skipped.
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
