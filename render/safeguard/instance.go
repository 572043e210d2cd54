package safeguard

import (
	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Fields of an IdentityChange of an instance, besides those of its release.
const (
	ObjectField      = "object"
	ApplicationField = "application"
)

// instanceChanges returns the changes of an instance that stays, besides those of its release and its chart. What is
// empty now is not known.
func instanceChanges(before, now Definition) []Change {
	var changes []Change
	differ := func(field, from, to string) {
		if from != "" && to != "" && from != to {
			change := before.change(v1alpha1.IdentityChangeReason)
			change.Field, change.From, change.To = field, from, to
			changes = append(changes, change)
		}
	}
	if now.Kind != "" {
		differ(ObjectField, before.Key().String(), now.Key().String())
	}
	differ(ApplicationField, before.Application, now.Application)
	from, to := before.version(), now.version()
	if from == to {
		return changes
	}
	change := before.change(v1alpha1.InstanceUpgradeReason)
	if isLower(from, to) {
		change.Reason, change.Versions = v1alpha1.VersionRemovalReason, before.Versions
	}
	change.From, change.To = from, to
	return append(changes, change)
}

// version returns the installed version of an instance, empty without one.
func (d Definition) version() string {
	if len(d.Versions) == 0 {
		return ""
	}
	return d.Versions[0]
}

// isLower reports whether the second of two semantic versions is lower.
func isLower(from, to string) bool {
	before, err := semver.NewVersion(from)
	if err != nil {
		return false
	}
	now, err := semver.NewVersion(to)
	return err == nil && now.LessThan(before)
}

// IsMajor reports whether an upgrade is one to another major version, or one that cannot be told to be none.
func (c Change) IsMajor() bool {
	from, err := semver.NewVersion(c.From)
	if err != nil {
		return true
	}
	to, err := semver.NewVersion(c.To)
	return err != nil || from.Major() != to.Major()
}
