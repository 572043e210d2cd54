// SPDX-License-Identifier: Apache-2.0

package safeguard

import (
	"slices"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/selection/numbered"
)

// majorRise returns the highest semantic versions of both, and reports whether the second's major is
// greater. Versions that are not semantic are skipped.
func majorRise(older, newer []string) (from, to string, rises bool) {
	if slices.Equal(older, newer) {
		return "", "", false
	}
	before, now := numbered.Highest(older), numbered.Highest(newer)
	if before.Parsed == nil || now.Parsed == nil {
		return "", "", false
	}
	return before.Text, now.Text, now.Parsed.Major() > before.Parsed.Major()
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
