// SPDX-License-Identifier: Apache-2.0

package safeguard

import (
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// UnknownValue is From of a LockedValue that was not locked, and To of one that is not locked any more.
const UnknownValue = "unknown"

// lockedChanges returns the changes of locked values between what an instance was and what gets its release, be it another
// instance or of another application. A value that only one of them locks has a digest on that side alone: it may have
// changed if any value has.
func lockedChanges(before, now Definition) []Change {
	if len(before.Locked) == 0 || before.Locked[""] == now.Locked[""] {
		return nil
	}
	paths := maps.Clone(before.Locked)
	maps.Copy(paths, now.Locked)
	delete(paths, "")
	var changes []Change
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if from, to := digestOf(before.Locked, path), digestOf(now.Locked, path); from != to {
			changes = append(changes, before.changeOf(v1alpha1.LockedValueReason, path, from, to))
		}
	}
	return changes
}

func digestOf(locked map[string]string, path string) string {
	if digest, ok := locked[path]; ok {
		return digest
	}
	return UnknownValue
}
