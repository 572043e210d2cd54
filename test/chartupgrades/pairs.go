// SPDX-License-Identifier: Apache-2.0

package chartupgrades

import (
	"crypto/sha256"
	"fmt"
	"slices"
)

// Sets of upgrades.
const (
	// Next are the upgrades of charts to their next versions, with their default values.
	Next = "next"
	// Skip are those that skip versions, to the last one.
	Skip = "skip"
	// Enabled are those from the first to the last version, with what values.yaml of the old version has as "enabled: false" or
	// "create: false" enabled, as far as both versions render then.
	Enabled = "enabled"
	// Back are those that take the upgrades of Next back.
	Back = "back"
)

// Pair is an upgrade of a chart.
type Pair struct {
	Chart, Set string
	Old, New   Version
}

func (p Pair) String() string {
	return fmt.Sprintf("%s %s to %s (%s)", p.Chart, p.Old.Version, p.New.Version, p.Set)
}

// IsKeptApart reports whether a chart is kept apart, to check figures: no rule may be changed for what is found there. It was
// decided before anything was recorded, by the digest of the name.
func IsKeptApart(chart string) bool { return sha256.Sum256([]byte(chart))[0]%2 != 0 }

// Pairs returns the upgrades of a chart, whose versions are sorted, set by set.
func Pairs(chart string, versions []Version) (all []Pair) {
	var next, skip, enabled, back []Pair
	for i, old := range versions {
		for j, later := range versions[i+1:] {
			isLast := i+j+2 == len(versions)
			if j == 0 {
				next = append(next, Pair{chart, Next, old, later})
				back = append(back, Pair{chart, Back, later, old})
			} else if isLast {
				skip = append(skip, Pair{chart, Skip, old, later})
			}
			if i == 0 && isLast {
				enabled = append(enabled, Pair{chart, Enabled, old, later})
			}
		}
	}
	return slices.Concat(next, skip, back, enabled)
}
