// SPDX-License-Identifier: Apache-2.0

package list

import (
	"fmt"
	"strings"
)

// resourceName returns the name of an object as kubectl's -o name prints it, which kubectl get takes.
func resourceName(apiVersion, kind, name string) string {
	resource := strings.ToLower(kind)
	if group, _, grouped := strings.Cut(apiVersion, "/"); grouped {
		resource += "." + group
	}
	return resource + "/" + name
}

// versionsColumn returns up to three versions, and of more the first, the last and the number.
func versionsColumn(versions []string) string {
	switch n := len(versions); {
	case n == 0:
		return "-"
	case n <= 3:
		return strings.Join(versions, ", ")
	default:
		return fmt.Sprintf("%s ... %s (%d)", versions[0], versions[n-1], n)
	}
}

func yesNo(value bool) string {
	if value {
		return "yes"
	}
	return "no"
}
