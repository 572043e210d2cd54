// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// byHarm sorts changes by their reasons, the most harmful first, and keeps the order of equal ones.
func byHarm(changes []safeguard.Change) []safeguard.Change {
	order := []string{
		v1alpha1.RemovalReason, v1alpha1.IdentityChangeReason, v1alpha1.VersionRemovalReason, v1alpha1.StrandedReason,
		v1alpha1.AdoptionReason, v1alpha1.LockedValueReason, v1alpha1.InstanceUpgradeReason, v1alpha1.SourceChangeReason, v1alpha1.MajorUpgradeReason,
	}
	slices.SortStableFunc(changes, func(a, b safeguard.Change) int {
		return cmp.Compare(slices.Index(order, a.Reason), slices.Index(order, b.Reason))
	})
	return changes
}

// Reasons returns a description of each change, with the lines that name it. decided has the decisions of the new render, and
// number adds to a line the number that it needs to count.
func Reasons(changes []safeguard.Change, decided selection.Result, number func(approval.Line) approval.Line) []v1alpha1.HeldReason {
	reasons := make([]v1alpha1.HeldReason, 0, len(changes))
	for _, c := range changes {
		versions := c.Versions[:min(len(c.Versions), maxVersions)]
		if c.Unreadable {
			versions = nil
		}
		reasons = append(reasons, v1alpha1.HeldReason{
			Reason: c.Reason, Application: cmp.Or(c.Application, c.Key.FullName()), Instance: c.Instance,
			Versions: slices.Clone(versions),
			Message:  Describe(c, decided), Approve: Lines(c, number),
		})
	}
	return reasons
}

// Describe returns what changes and, for a removal, why.
func Describe(c safeguard.Change, decided selection.Result) string {
	switch {
	case c.Unreadable && !c.OfPlatform():
		return describeUnreadable(c)
	case c.Instance != "":
		return describeInstance(c, decided)
	}
	return describeDefinition(c, decided)
}

func describeDefinition(c safeguard.Change, decided selection.Result) string {
	versions := excerpt.Names(c.Versions, maxVersions)
	switch c.Reason {
	case v1alpha1.RemovalReason:
		by := ""
		if c.Consumer != "" {
			by = "by the Kustomization " + c.Consumer + ", which has applied it, "
		}
		return "would be removed, " + by + "because " + WhyGone(c.Key, decided)
	case v1alpha1.AdoptionReason:
		if c.OfPlatform() {
			return "lives in the cluster, where the platform itself reconciles it"
		}
		return "lives in the cluster with versions that would be removed: " + versions + respelt(c, decided) + c.Detail
	case v1alpha1.IdentityChangeReason:
		return fmt.Sprintf("%s would change from %q to %q: its releases would be orphaned, and installed anew", c.Field, c.From, c.To)
	case v1alpha1.SourceChangeReason:
		if len(c.Versions) == 0 {
			return "would come from another chart or module"
		}
		switch c.Key.Kind {
		case catalog.PackageKind:
			return "bundles would have another image: " + versions
		case catalog.FunctionKind:
			return "versions would run another image, program or script: " + versions
		}
		return "versions would come from another chart, repository or commit: " + versions
	case v1alpha1.StrandedReason:
		if c.From != "" {
			return fmt.Sprintf("the default channel would change from %s to %s, which has no upgrade for: %s", excerpt.Quoted(c.From), excerpt.Quoted(c.Channel), versions)
		}
		return fmt.Sprintf("the channel %s would have no upgrade any more for: %s", excerpt.Quoted(c.Channel), versions)
	case v1alpha1.MajorUpgradeReason:
		return fmt.Sprintf("would rise from %s to %s", c.From, c.To)
	}
	return "versions would be removed: " + versions + respelt(c, decided) + unmetOf(c, decided)
}

// respelt describes which of the lost versions the new render has in another spelling, such as 1.0.0 for v1.0.0: a reader
// takes both for the same, but the platform compares them as text. A version that is selected as it is, and gone nevertheless, is
// lost by a patch. It is empty for none.
func respelt(c safeguard.Change, decided selection.Result) string {
	d := decisionOn(c.Key, decided)
	if d == nil {
		return ""
	}
	var pairs []string
	for _, lost := range c.Versions {
		if slices.Contains(d.Versions, lost) {
			return "; spec.patches take this away: a merge patch replaces a list as a whole"
		}
		former, err := semver.NewVersion(lost)
		if err != nil {
			continue
		}
		for _, kept := range d.Versions {
			if now, err := semver.NewVersion(kept); err == nil && now.Equal(former) {
				pairs = append(pairs, kept+" instead of "+lost)
				break
			}
		}
	}
	if len(pairs) == 0 {
		return ""
	}
	return "; the catalog has " + excerpt.Names(pairs, maxVersions) + ", which is another version for the platform: keep both entries until nothing uses the former one"
}

// describeUnreadable returns what would happen to a live object without its content.
func describeUnreadable(c safeguard.Change) string {
	const why = ", which the account of the selection may not read"
	switch {
	case c.Field == safeguard.OperatorConflictField:
		return "instance " + c.Instance + " cannot be installed beside an object that lives in the cluster" + why
	case c.Reason == v1alpha1.IdentityChangeReason:
		return fmt.Sprintf("lives in the cluster, and its %s would change to %q: its releases would be orphaned, and installed anew; the account of the selection may not read the field", c.Field, c.To)
	}
	return "lives in the cluster with versions that would be removed" + why
}

// describeInstance returns what changes of an instance.
func describeInstance(c safeguard.Change, decided selection.Result) string {
	name := "instance " + c.Instance
	switch {
	case c.Reason == v1alpha1.LockedValueReason:
		return name + ": " + describeLocked(c)
	case c.Reason == v1alpha1.RemovalReason && c.Detail == "":
		return name + " would be removed: " + cmp.Or(decided.Undecided, "spec.instances does not have it")
	case c.Field == safeguard.OperatorConflictField:
		return name + ": " + c.Detail
	case c.Detail != "":
		return fmt.Sprintf("%s would be removed, because %s", name, c.Detail)
	case c.Field == safeguard.ChannelField:
		return fmt.Sprintf("%s would follow the channel %s instead of %s, and OLM would upgrade it to what that has; to keep the channel, name it in spec.instances[%s].channels",
			name, excerpt.Quoted(c.To), excerpt.Quoted(c.From), c.Instance)
	case c.Field == safeguard.InstanceField:
		return fmt.Sprintf("%s would be removed, and instance %s would get its object or its release: what runs would be uninstalled, and installed anew; "+
			"keep the name %s, or give %s another releaseName", name, c.To, c.Instance, c.To)
	case c.Reason == v1alpha1.IdentityChangeReason:
		return fmt.Sprintf("%s: %s would change from %q to %q: %s", name, c.Field, c.From, c.To, consequence(c))
	case c.Reason == v1alpha1.SourceChangeReason:
		return name + " would be upgraded to another chart, repository or commit of the same version"
	case c.Reason == v1alpha1.VersionRemovalReason:
		return fmt.Sprintf("%s would fall from %s to %s", name, c.From, c.To)
	}
	return fmt.Sprintf("%s would rise from %s to %s", name, cmp.Or(c.From, "no version"), cmp.Or(c.To, "no version"))
}

// describeLocked returns what happens to a locked value, without the value, which may be a secret.
func describeLocked(c safeguard.Change) string {
	const why = "which its application does not allow once it is installed: keep the value"
	value := excerpt.Quoted(c.Field)
	switch {
	case c.From == safeguard.UnknownValue:
		return fmt.Sprintf("the value %s is locked from now on, while values change, and whether it does is not known: compare it with what is installed", value)
	case c.To == safeguard.UnknownValue:
		return fmt.Sprintf("the value %s is not locked any more, while values change, and whether it does is not known: compare it with what is installed", value)
	case c.From == "":
		return fmt.Sprintf("the locked value %s would be set, %s unset", value, why)
	case c.To == "":
		return fmt.Sprintf("the locked value %s would not be set any more, %s", value, why)
	}
	return fmt.Sprintf("the locked value %s would change, %s", value, why)
}

// unmetOf describes which of the lost versions the platform drops; empty for none.
func unmetOf(c safeguard.Change, decided selection.Result) string {
	d := decisionOn(c.Key, decided)
	if d == nil {
		return ""
	}
	unmet := slices.DeleteFunc(slices.Clone(d.Unmet), func(u selection.Unmet) bool { return !slices.Contains(c.Versions, u.Version) })
	if len(unmet) == 0 {
		return ""
	}
	return "; by spec.platform: " + selection.UnmetList(unmet)
}

// UnmetBy reports whether the platform drops a version of a definition; for an empty version, whether it refuses the
// definition.
func UnmetBy(key safeguard.Key, version string, decided selection.Result) bool {
	d := decisionOn(key, decided)
	switch {
	case d == nil:
		return false
	case version == "":
		return d.Rule == selection.RulePlatform
	}
	return slices.ContainsFunc(d.Unmet, func(u selection.Unmet) bool { return u.Version == version })
}

// IsInCatalog reports whether a catalog has a definition, with a version unless that is empty.
func IsInCatalog(key safeguard.Key, version string, decided selection.Result) bool {
	d := decisionOn(key, decided)
	return d != nil && (version == "" || slices.Contains(d.Application.Versions, version))
}

// WhyGone returns why the new render does not have a definition.
func WhyGone(key safeguard.Key, decided selection.Result) string {
	if d := decisionOn(key, decided); d != nil {
		return d.Reason
	}
	return cmp.Or(decided.Undecided, "no source has it")
}

// decisionOn returns the first decision on the application of a definition; nil if no source has it.
func decisionOn(key safeguard.Key, decided selection.Result) *selection.Decision {
	for i, d := range decided.Decisions {
		if a := d.Application; (safeguard.Key{Group: a.Group, Kind: a.Kind, Name: a.Name}) == key {
			return &decided.Decisions[i]
		}
	}
	return nil
}

// consequence returns what an IdentityChange of an instance does to what runs. Flux applies new objects before it deletes
// old ones, and deletes those only by deletionPolicy: Delete and prune: true.
func consequence(c safeguard.Change) string {
	switch {
	case c.Field == safeguard.TargetsField:
		return "the operators of the namespace would watch other namespaces, and leave alone what they have made in the others"
	case c.Key.Kind == backend.Subscription:
		return "what OLM v0 has installed runs on beside the new one, even if Flux deletes the Subscription, until its ClusterServiceVersion is deleted"
	case c.Key.Kind == backend.ClusterExtension && c.Field == safeguard.ObjectField:
		return "the former one runs on beside the new one; with deletionPolicy Delete Flux deletes it after it has applied the new one, and OLM deletes its CustomResourceDefinitions with all their objects"
	case c.Key.Kind == backend.ClusterExtension:
		return "OLM refuses this change to a ClusterExtension that lives, and Flux applies nothing then: keep the value, or give the instance another name"
	case c.Field == safeguard.ChartField:
		return "what runs would be upgraded in place, and Helm would delete the objects that the other chart lacks"
	case c.Field == safeguard.ObjectField:
		return "the former one runs on beside the new one; with deletionPolicy Delete what runs would be uninstalled, and installed anew"
	}
	return "what runs would be uninstalled, and installed anew"
}
