// SPDX-License-Identifier: Apache-2.0

package safeguard

import (
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// UnknownValue is From of a LockedValue whose former value is not known.
const UnknownValue = "unknown"

// lockedChanges returns the changes of locked values. A value that only the newer version locks was not recorded: it may
// have changed if any value has.
func lockedChanges(before, now Definition) []Change {
	if len(before.Locked) == 0 || len(now.Locked) == 0 || before.Locked[""] == now.Locked[""] || before.Application != now.Application {
		return nil
	}
	var changes []Change
	for _, path := range slices.Sorted(maps.Keys(now.Locked)) {
		from, known := before.Locked[path]
		if !known {
			from = UnknownValue
		}
		if path == "" || from == now.Locked[path] {
			continue
		}
		change := before.change(v1alpha1.LockedValueReason)
		change.Field, change.From, change.To = path, from, now.Locked[path]
		changes = append(changes, change)
	}
	return changes
}
