// SPDX-License-Identifier: Apache-2.0

package draft

import "time"

// Set sets a member of an object to a text that is not empty, or to true.
func Set[V string | bool](object map[string]any, name string, value V) {
	var unset V
	if value != unset {
		object[name] = value
	}
}

// SetDuration sets a member to a duration that is not zero.
func SetDuration(object map[string]any, name string, value time.Duration) {
	if value > 0 {
		object[name] = value.String()
	}
}

// SetMap sets a member to a copy of a mapping that is not empty.
func SetMap[V any](object map[string]any, name string, value map[string]V) {
	if len(value) == 0 {
		return
	}
	members := make(map[string]any, len(value))
	for key, member := range value {
		members[key] = member
	}
	object[name] = members
}
