// SPDX-License-Identifier: Apache-2.0

package safeguard

import (
	"slices"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/selection/numbered"
)

// majorRise returns a MajorUpgrade of the definition if the major of the highest semantic version rises. Versions that are not
// semantic are skipped.
func (d Definition) majorRise(older, newer []string) []Change {
	if slices.Equal(older, newer) {
		return nil
	}
	before, now := numbered.Highest(older), numbered.Highest(newer)
	if before.Parsed == nil || now.Parsed == nil || now.Parsed.Major() <= before.Parsed.Major() {
		return nil
	}
	return []Change{d.changeOf(v1alpha1.MajorUpgradeReason, "", before.Text, now.Text)}
}

// IsLower reports whether the second of two semantic versions is lower.
func IsLower(from, to string) bool {
	before, err := semver.NewVersion(from)
	if err != nil {
		return false
	}
	now, err := semver.NewVersion(to)
	return err == nil && now.LessThan(before)
}

// missing returns the strings of older that newer lacks, in their order.
func missing(older, newer []string) []string {
	return slices.DeleteFunc(slices.Clone(older), sets.New(newer...).Has)
}
