// SPDX-License-Identifier: Apache-2.0

package safeguard

import (
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

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
			c.Versions = slices.DeleteFunc(slices.Clone(c.Versions), func(v string) bool { return lost[c.Key][c.lossKey(v)] })
			if len(c.Versions) > 0 {
				rest = append(rest, c)
			}
		} else if !slices.ContainsFunc(excused, c.same) {
			rest = append(rest, c)
		}
	}
	return rest
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
