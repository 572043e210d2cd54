// SPDX-License-Identifier: Apache-2.0

package safeguard

import (
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/each"
)

// ChannelField is the field of an InstanceUpgrade to another channel.
const ChannelField = "channel"

// Fields of an IdentityChange of an instance. The fields of its release are members of Definition.Identity.
const (
	ReleaseField          = "releaseName"
	StorageNamespaceField = "storageNamespace"
	TargetNamespaceField  = "targetNamespace"
	ChartField            = "chart"
	// ModuleField of a Terraform object: another module destroys what the first one has made.
	ModuleField = "module"
	// PackageField of an object of OLM.
	PackageField = "package"
	// TargetsField has the namespaces that an operator watches.
	TargetsField     = "targetNamespaces"
	ObjectField      = "object"
	ApplicationField = "application"
	// OperatorConflictField has an object that lives, and that an instance cannot be installed beside.
	OperatorConflictField = "cluster"
	// InstanceField has an instance whose object or release another instance gets.
	InstanceField = "instance"
)

// StoredRelease is the group of the key of a release where Helm stores it.
const StoredRelease = "helm.sh"

// Releases returns the keys of the release of an instance; none without one. They are no objects of the API. Helm stores a
// release by its name and the namespace of its storage, and finds its objects by its name and the namespace that it
// installs to: two owners of either key would upgrade, and uninstall, what the other one installs. OLM v1 installs a
// package once in a cluster, and OLM v0 once in a namespace.
func (d Definition) Releases() []Key {
	const kind = "Release"
	if d.Instance != "" && d.Identity[PackageField] != "" {
		return []Key{{Group: d.Key().Group, Kind: "Package", Namespace: d.Namespace, Name: d.Identity[PackageField]}}
	}
	name := d.Identity[ReleaseField]
	if d.Instance == "" || name == "" {
		return nil
	}
	return []Key{
		{Group: "helm.sh", Kind: kind, Namespace: d.Identity[StorageNamespaceField], Name: name},
		{Group: "target.helm.sh", Kind: kind, Namespace: d.Identity[TargetNamespaceField], Name: name},
	}
}

// heir returns the instance that gets the object or the release of another one.
func heir(of Definition, newer []Definition) (Definition, bool) {
	if of.Instance == "" {
		return Definition{}, false
	}
	releases := of.Releases()
	return each.First(newer, func(d Definition) bool {
		shared := slices.ContainsFunc(d.Releases(), func(k Key) bool { return slices.Contains(releases, k) })
		return d.Instance != "" && (d.Key() == of.Key() || shared)
	})
}

// instanceChanges returns the changes of an instance that stays, besides changes of its release and its chart. What
// is empty now is not known.
func instanceChanges(before, now Definition) []Change {
	var changes []Change
	differ := func(field, from, to string) {
		if from != "" && to != "" && from != to {
			changes = append(changes, before.changeOf(v1alpha1.IdentityChangeReason, field, from, to))
		}
	}
	if now.Kind != "" {
		differ(ObjectField, before.Key().String(), now.Key().String())
	}
	differ(ApplicationField, before.Application, now.Application)
	if before.Channel != "" && now.Channel != "" && before.Channel != now.Channel {
		changes = append(changes, before.changeOf(v1alpha1.InstanceUpgradeReason, ChannelField, before.Channel, now.Channel))
	}
	from, to := before.version(), now.version()
	if from == to {
		return changes
	}
	change := before.changeOf(v1alpha1.InstanceUpgradeReason, "", from, to)
	if IsLower(from, to) {
		change.Reason, change.Versions = v1alpha1.VersionRemovalReason, before.Versions
	}
	return append(changes, change)
}

// version returns the installed version of an instance, empty without one.
func (d Definition) version() string {
	if len(d.Versions) == 0 {
		return ""
	}
	return d.Versions[0]
}

// IsMajor reports whether an upgrade is one to another major version, or one that cannot be told to be none, as to another
// channel.
func (c Change) IsMajor() bool {
	if c.Field == ChannelField {
		return true
	}
	from, err := semver.NewVersion(c.From)
	if err != nil {
		return true
	}
	to, err := semver.NewVersion(c.To)
	return err != nil || from.Major() != to.Major()
}
