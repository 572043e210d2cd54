// SPDX-License-Identifier: Apache-2.0

package draft

import "time"

// SetText sets a member of an object to a text that is not empty.
func SetText(object map[string]any, name, value string) {
	if value != "" {
		object[name] = value
	}
}

// SetTrue sets a member that is true.
func SetTrue(object map[string]any, name string, value bool) {
	if value {
		object[name] = true
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
